// Connects that take their time, and many at once.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "keeper/gate.h"
#include "keeper/gate_waiting_linux.h"
#include "support/in_child.h"

namespace spty {
namespace {

class GateBlockingTest : public GateWaitingTest {
 protected:
  // When the session is over the gate does not spin: its threads have ended, or (before Linux 6.11) sleep.
  static void ExpectSleepAfter(GateSession& session) {
    EXPECT_TRUE(WaitForDeath(session.client()));
    EXPECT_TRUE(Eventually([&] {
      for (const auto& task :
           std::filesystem::directory_iterator("/proc/" + std::to_string(session.keeper()) + "/task")) {
        std::ifstream file(task.path() / "syscall");
        std::string number;
        if (!(file >> number) || number == "running") return false;
      }
      return true;
    }));
  }
};

TEST_P(GateBlockingTest, NonBlockingTcpStaysNonBlocking) {
  uint16_t port = 0;
  Fd server = ListenTcp(16, &port);
  auto body = [=]() -> std::string {
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    CHILD_CHECK(ConnectTcp(socket.get(), port) == EINPROGRESS);
    pollfd watched{socket.get(), POLLOUT, 0};
    CHILD_CHECK(poll(&watched, 1, 20'000) == 1);
    int err = -1;
    socklen_t size = sizeof err;
    CHILD_CHECK(getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &err, &size) == 0 && err == 0);
    CHILD_CHECK(ConnectTcp(socket.get(), port) == 0);
    CHILD_CHECK(ConnectTcp(socket.get(), port) == EISCONN);
    return "";
  };
  EXPECT_EQ(WithoutGate(setup_, body), "");
  EXPECT_EQ(InGate(setup_, body), "");
}

TEST_P(GateBlockingTest, PassesTheKernelsErrorsOn) {
  uint16_t port = 0;
  { Fd closed = ListenTcp(16, &port); }
  FullServer full(dir_.File("full"));
  auto body = [=, this]() -> std::string {
    Fd tcp(::socket(AF_INET, SOCK_STREAM, 0));
    CHILD_CHECK(ConnectTcp(tcp.get(), port) == ECONNREFUSED);
    Fd quick(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
    CHILD_CHECK(ConnectTo(quick.get(), dir_.File("full")) == EAGAIN);
    Fd timed(::socket(AF_UNIX, SOCK_STREAM, 0));
    timeval limit{0, 10'000};
    CHILD_CHECK(setsockopt(timed.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0);
    CHILD_CHECK(ConnectTo(timed.get(), dir_.File("full")) == EAGAIN);
    // A connected datagram socket can be dissolved.
    Fd udp(::socket(AF_INET, SOCK_DGRAM, 0));
    CHILD_CHECK(ConnectTcp(udp.get(), port) == 0);
    sockaddr_storage none{};
    CHILD_CHECK(connect(udp.get(), reinterpret_cast<sockaddr*>(&none), 16) == 0);
    socklen_t size = sizeof none;
    CHILD_CHECK(getpeername(udp.get(), reinterpret_cast<sockaddr*>(&none), &size) == -1);
    return "";
  };
  EXPECT_EQ(WithoutGate(setup_, body), "");
  EXPECT_EQ(InGate(setup_, body), "");
}

TEST_P(GateBlockingTest, ASlowOneDelaysNobody) {
  FullServer full(dir_.File("full"));
  Server quick(dir_.File("quick"));
  GateSession session(setup_, [this]() -> std::string {
    Connecting slow(dir_.File("full"));
    CHILD_CHECK(slow.Blocks());
    for (int i = 0; i < 10; ++i) CHILD_CHECK(TryConnect(dir_.File("quick")) == 0);
    CHILD_CHECK(TellTest());
    return slow.Result() == 0 ? "" : "the slow one failed";
  });
  ASSERT_TRUE(HearClient());
  full.Drain(1);
  EXPECT_EQ(session.Wait(), "");
}

TEST_P(GateBlockingTest, AFullTcpQueueDelaysNobody) {
  setup_.visible = true;
  uint16_t full_port = 0;
  Fd full = ListenTcp(0, &full_port);
  Fd filler(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(ConnectTcp(filler.get(), full_port), 0);
  uint16_t port = 0;
  Fd server = ListenTcp(16, &port);
  GateSession session(setup_, [=, this]() -> std::string {
    Fd slow(::socket(AF_INET, SOCK_STREAM, 0));
    std::atomic<pid_t> id = 0;
    std::thread thread([&id, fd = slow.get(), full_port] {
      id = ThreadId();
      ConnectTcp(fd, full_port);
    });
    thread.detach();
    CHILD_CHECK(Eventually([&] { return id != 0 && IsConnecting(getpid(), id); }));
    Fd quick(::socket(AF_INET, SOCK_STREAM, 0));
    CHILD_CHECK(ConnectTcp(quick.get(), port) == 0);
    CHILD_CHECK(IsConnecting(getpid(), id));
    return "";  // and leaves the other to its fate
  });
  EXPECT_EQ(session.Wait(), "");
  EXPECT_TRUE(Eventually([&] { return SocketsOf(session.keeper()) == 1; }));  // the one to the test
}

TEST_P(GateBlockingTest, TwoHundredAtOnce) {
  setup_.visible = true;
  constexpr size_t kMany = 200;
  FullServer full(dir_.File("full"));
  Server quick(dir_.File("quick"));
  GateSession session(setup_, [this]() -> std::string {
    std::vector<std::unique_ptr<Connecting>> all;
    for (size_t i = 0; i < kMany; ++i) all.push_back(std::make_unique<Connecting>(dir_.File("full")));
    for (auto& one : all) CHILD_CHECK(one->Blocks());
    CHILD_CHECK(TryConnect(dir_.File("quick")) == 0);
    CHILD_CHECK(TellTest());
    for (auto& one : all) CHILD_CHECK(one->Result() == 0);
    return "";
  });
  ASSERT_TRUE(HearClient());
  full.Drain(kMany);
  EXPECT_EQ(session.Wait(), "");
  EXPECT_EQ(session.TurnedAway(), 0U);
  // The main one, two that receive, one that watches.
  EXPECT_TRUE(Eventually([&] { return std::stoi(StatusOf(session.keeper(), "Threads")) <= 4; }));
  EXPECT_EQ(SocketsOf(session.keeper()), 1U);
}

TEST_P(GateBlockingTest, TurnsAwayWhoeverExceedsTheThreads) {
  constexpr uint32_t kTooMany = 20;
  constexpr uint32_t kServed = kGateMaxThreads - 1;  // the last one goes on receiving
  FullServer full(dir_.File("full"));
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_max < 4 * kGateMaxThreads) GTEST_SKIP() << "needs a higher limit of descriptors";
  GateSession session(setup_, [=, this]() -> std::string {
    rlimit raised{limit.rlim_max, limit.rlim_max};
    CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &raised) == 0);
    std::atomic<uint32_t> served = 0;
    std::atomic<uint32_t> turned_away = 0;
    std::vector<std::thread> all;
    for (uint32_t i = 0; i < kServed + kTooMany; ++i) {
      all.emplace_back([&] {
        int err = TryConnect(dir_.File("full"));
        served += err == 0 ? 1 : 0;
        turned_away += err == EAGAIN ? 1 : 0;
      });
    }
    bool right = Eventually([&] { return turned_away == kTooMany; }) && served == 0;
    TellTest();
    for (std::thread& one : all) one.join();
    CHILD_CHECK(right && served == kServed && turned_away == kTooMany);
    return "";
  });
  ASSERT_TRUE(HearClient());
  full.Drain(kServed);
  EXPECT_EQ(session.Wait(), "");
  EXPECT_EQ(session.TurnedAway(), kTooMany);
}

TEST_P(GateBlockingTest, HoldsNothingOnceItHasAnswered) {
  setup_.visible = true;
  Server server(dir_.File("s"));
  uint16_t port = 0;
  Fd tcp_server = ListenTcp(4096, &port);
  // None: a thread of the gate that has just started gives up its privileges, and for that moment nobody may
  // look.
  const auto held = [] {
    size_t sockets = 0;
    (void)Eventually([&] { return (sockets = SocketsOf(getppid())) > 0; });
    return sockets;
  };
  EXPECT_EQ(InGate(setup_,
                   [=, this]() -> std::string {
                     for (int i = 0; i < 300; ++i) {
                       Fd tcp(::socket(AF_INET, SOCK_STREAM, 0));
                       CHILD_CHECK(ConnectTcp(tcp.get(), port) == 0);
                       CHILD_CHECK(held() == 1);  // the one to the test
                       CHILD_CHECK(TryConnect(dir_.File("s")) == 0);
                       CHILD_CHECK(held() == 1);
                       Fd own = ListenAt("@spty-gate-test-" + std::to_string(getpid()));
                       CHILD_CHECK(own.valid() && held() == 1);
                     }
                     return "";
                   }),
            "");
}

TEST_P(GateBlockingTest, WithoutAThreadItTurnsAway) {
  uint16_t port = 0;
  Fd server = ListenTcp(16, &port);
  auto connects = [=](int expected) {
    return [=]() -> std::string {
      for (int i = 0; i < 3; ++i) {
        Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
        CHILD_CHECK(ConnectTcp(socket.get(), port) == expected);
      }
      return "";
    };
  };
  EXPECT_EQ(InGate(setup_, connects(0)), "");
  setup_.threads = false;
  GateSession session(setup_, connects(EAGAIN));
  EXPECT_EQ(session.Wait(), "");
  EXPECT_EQ(session.TurnedAway(), 3U);
}

TEST_P(GateBlockingTest, AnIdleGateHasNoThreadAndSleeps) {
  setup_.visible = true;
  Server server(dir_.File("s"));
  GateSession session(setup_, [this]() -> std::string {
    CHILD_CHECK(TellTest() && HearTest());
    CHILD_CHECK(TryConnect(dir_.File("s")) == 0);
    return "";
  });
  ASSERT_TRUE(HearClient());
#if !defined(__SANITIZE_THREAD__)  // which has threads of its own
  EXPECT_EQ(StatusOf(session.keeper(), "Threads"), "1");
#endif
  EXPECT_TRUE(TellClient());
  EXPECT_EQ(session.Wait(), "");
  EXPECT_TRUE(server.Reached());
  ExpectSleepAfter(session);
}

TEST_P(GateBlockingTest, AGateThatNobodyUsedSleeps) {
  setup_.visible = true;
  GateSession session(setup_, []() -> std::string { return ""; });
  EXPECT_EQ(session.Wait(), "");
  ExpectSleepAfter(session);
}

INSTANTIATE_TEST_SUITE_P(As, GateBlockingTest, testing::ValuesIn(TestUsers()),
                         [](const auto& param) { return UserName(param.param); });

}  // namespace
}  // namespace spty
