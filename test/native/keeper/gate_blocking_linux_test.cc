// Connects that take their time, callers that do not wait for them, and a keeper that dies.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <thread>

#include "keeper/gate_harness_linux.h"
#include "keeper/gate_linux.h"
#include "support/in_child.h"
#include "support/processes_linux.h"
#include "support/temp_dir.h"

namespace spty {
namespace {

// Whether a thread is inside connect(2), be it with the kernel or with the gate.
bool IsConnecting(pid_t process, pid_t thread) {
  std::ifstream file("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/syscall");
  long number = -1;
  return static_cast<bool>(file >> number) && number == SYS_connect;
}

pid_t ThreadId() { return static_cast<pid_t>(syscall(SYS_gettid)); }

size_t SocketsOf(pid_t pid) {
  size_t count = 0;
  for (const auto& [fd, target] : DescriptorsOf(pid)) count += target.starts_with("socket:") ? 1 : 0;
  return count;
}

// A thread that makes one blocking connect.
class Connecting {
 public:
  explicit Connecting(const std::string& name)
      : thread_([this, name] {
          id_ = ThreadId();
          result_ = TryConnect(name);
        }) {}
  bool Blocks() {
    return Eventually([this] { return id_ != 0 && IsConnecting(getpid(), id_); });
  }
  int Result() {
    thread_.join();
    return result_;
  }
  bool Signal(int number) { return pthread_kill(thread_.native_handle(), number) == 0; }

 private:
  std::atomic<pid_t> id_ = 0;
  std::atomic<int> result_ = -1;
  std::thread thread_;
};

class GateBlockingTest : public testing::TestWithParam<uid_t> {
 protected:
  GateBlockingTest() {
    EXPECT_EQ(chmod(dir_.path().c_str(), 0777), 0);
    setup_.directories = {dir_.path()};
    setup_.keeper_uid = GetParam();
    EXPECT_EQ(pipe2(to_client_, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(to_test_, O_CLOEXEC), 0);
  }
  ~GateBlockingTest() override {
    for (int fd : {to_client_[0], to_client_[1], to_test_[0], to_test_[1]}) close(fd);
  }

  // Between the client and the test.
  bool TellTest() { return write(to_test_[1], "x", 1) == 1; }
  bool TellClient() { return write(to_client_[1], "x", 1) == 1; }
  bool HearTest() {
    char byte;
    return read(to_client_[0], &byte, 1) == 1;
  }
  bool HearClient() {
    pollfd watched{to_test_[0], POLLIN, 0};
    char byte;
    return poll(&watched, 1, 60'000) == 1 && read(to_test_[0], &byte, 1) == 1;
  }

  TempDir dir_;
  GateSetup setup_;
  int to_client_[2];
  int to_test_[2];
};

// A socket whose queue is full: the next connect blocks until somebody accepts.
class FullServer {
 public:
  explicit FullServer(const std::string& name) : server_(name, SOCK_STREAM, 0) {
    EXPECT_EQ(TryConnect(name), 0);
  }
  // Lets in whoever comes, `count` of them, after the one that fills the queue.
  void Drain(size_t count) {
    for (size_t i = 0; i < count + 1; ++i) ASSERT_TRUE(server_.Accept().valid());
  }

 private:
  Server server_;
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
  uint16_t full_port = 0;
  Fd full = ListenTcp(0, &full_port);
  Fd filler(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(ConnectTcp(filler.get(), full_port), 0);
  uint16_t port = 0;
  Fd server = ListenTcp(16, &port);
  GateSession session(setup_, [=, this]() -> std::string {
    Fd slow(::socket(AF_INET, SOCK_STREAM, 0));
    std::atomic<pid_t> id = 0;
    std::thread thread([&] {
      id = ThreadId();
      ConnectTcp(slow.get(), full_port);
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

void Ignore(int) {}

bool Catch(int number, int flags) {
  struct sigaction action {};
  action.sa_handler = Ignore;
  action.sa_flags = flags;
  return sigaction(number, &action, nullptr) == 0;
}

TEST_P(GateBlockingTest, ASignalInterruptsTheCaller) {
  FullServer full(dir_.File("full"));
  GateSession session(setup_, [this]() -> std::string {
    CHILD_CHECK(Catch(SIGUSR1, 0));
    Connecting slow(dir_.File("full"));
    CHILD_CHECK(slow.Blocks());
    CHILD_CHECK(slow.Signal(SIGUSR1));
    return slow.Result() == EINTR ? "" : "not interrupted";
  });
  EXPECT_EQ(session.Wait(), "");
  EXPECT_TRUE(Eventually([&] { return SocketsOf(session.keeper()) == 1; }));
}

TEST_P(GateBlockingTest, ARestartedCallGoesOn) {
  FullServer full(dir_.File("full"));
  GateSession session(setup_, [this]() -> std::string {
    CHILD_CHECK(Catch(SIGUSR1, SA_RESTART));
    Connecting slow(dir_.File("full"));
    for (int i = 0; i < 20; ++i) CHILD_CHECK(slow.Blocks() && slow.Signal(SIGUSR1));
    CHILD_CHECK(slow.Blocks() && TellTest());
    return slow.Result() == 0 ? "" : "failed";
  });
  ASSERT_TRUE(HearClient());
  full.Drain(1);
  EXPECT_EQ(session.Wait(), "");
}

TEST_P(GateBlockingTest, HoldsNothingOnceItHasAnswered) {
  Server server(dir_.File("s"));
  uint16_t port = 0;
  Fd tcp_server = ListenTcp(4096, &port);
  EXPECT_EQ(InGate(setup_,
                   [=, this]() -> std::string {
                     for (int i = 0; i < 300; ++i) {
                       Fd tcp(::socket(AF_INET, SOCK_STREAM, 0));
                       CHILD_CHECK(ConnectTcp(tcp.get(), port) == 0);
                       CHILD_CHECK(SocketsOf(getppid()) == 1);  // the one to the test
                       CHILD_CHECK(TryConnect(dir_.File("s")) == 0);
                       CHILD_CHECK(SocketsOf(getppid()) == 1);
                       Fd own = ListenAt("@spty-gate-test-" + std::to_string(getpid()));
                       CHILD_CHECK(own.valid() && SocketsOf(getppid()) == 1);
                     }
                     return "";
                   }),
            "");
}

// With a filter that only lets fatal signals through once the gate has the request.
TEST_P(GateBlockingTest, SignalsDoNotDisturbAKillableWait) {
  Server server(dir_.File("s"));
  uint16_t port = 0;
  Fd tcp_server = ListenTcp(4096, &port);
  setup_.wait_killable = true;
  EXPECT_EQ(InGate(setup_,
                   [=, this]() -> std::string {
                     CHILD_CHECK(Catch(SIGUSR1, SA_RESTART));
                     pthread_t self = pthread_self();
                     std::atomic<bool> end = false;
                     std::thread nuisance([&] {
                       timespec pause{0, 500'000};
                       while (!end) {
                         pthread_kill(self, SIGUSR1);
                         nanosleep(&pause, nullptr);
                       }
                     });
                     std::string complaint;
                     for (int i = 0; i < 1000 && complaint.empty(); ++i) {
                       int err = TryConnect(dir_.File("s"));
                       if (err != 0) complaint += std::string("unix: ") + strerror(err);
                       Fd tcp(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
                       err = ConnectTcp(tcp.get(), port);
                       if (err != EINPROGRESS) complaint += std::string("tcp: ") + strerror(err);
                     }
                     end = true;
                     nuisance.join();
                     return complaint;
                   }),
            "");
}

TEST_P(GateBlockingTest, ADeadCallerLeavesNothingBehind) {
  FullServer full(dir_.File("full"));
  GateSession session(setup_, [this]() -> std::string {
    Fd warm_up(::socket(AF_UNIX, SOCK_STREAM, 0));
    CHILD_CHECK(ConnectTo(warm_up.get(), dir_.File("none")) == ENOENT);
    TellTest();
    TryConnect(dir_.File("full"));
    return "came back";
  });
  ASSERT_TRUE(HearClient());
  ASSERT_TRUE(Eventually([&] { return SocketsOf(session.keeper()) == 2; }));
  kill(session.client(), SIGKILL);
  EXPECT_EQ(session.Wait(), "");
  EXPECT_TRUE(Eventually([&] { return SocketsOf(session.keeper()) == 1; }));
  for (const auto& [fd, target] : DescriptorsOf(session.keeper())) {
    EXPECT_EQ(target.find(dir_.path()), std::string::npos) << target;
  }
}

TEST_P(GateBlockingTest, ADeadKeeperMeansRefusal) {
  FullServer full(dir_.File("full"));
  Server quick(dir_.File("quick"));
  GateSession session(setup_, [this]() -> std::string {
    CHILD_CHECK(TryConnect(dir_.File("quick")) == 0);
    Connecting slow(dir_.File("full"));
    CHILD_CHECK(slow.Blocks());
    CHILD_CHECK(TellTest() && HearTest());
    CHILD_CHECK(slow.Result() == ENOSYS);
    CHILD_CHECK(TryConnect(dir_.File("quick")) == ENOSYS);
    Fd tcp(::socket(AF_INET, SOCK_STREAM, 0));
    CHILD_CHECK(ConnectTcp(tcp.get(), 1) == ENOSYS);
    CHILD_CHECK(listen(tcp.get(), 1) == -1 && errno == ENOSYS);
    return "";
  });
  ASSERT_TRUE(HearClient());
  kill(session.keeper(), SIGKILL);
  ASSERT_TRUE(WaitForDeath(session.keeper()));
  EXPECT_TRUE(quick.Reached());
  ASSERT_TRUE(TellClient());
  EXPECT_EQ(session.Wait(), "");
  EXPECT_FALSE(quick.Reached());
}

TEST_P(GateBlockingTest, AnIdleGateIsOneThreadThatSleeps) {
  GateSession session(setup_, [this]() -> std::string { return TellTest() && HearTest() ? "" : "unheard"; });
  ASSERT_TRUE(HearClient());
  EXPECT_EQ(StatusOf(session.keeper(), "Threads"), "2");
  EXPECT_TRUE(TellClient());
  EXPECT_EQ(session.Wait(), "");
  // When the session is over the gate does not spin: it either ended or sleeps.
  EXPECT_TRUE(WaitForDeath(session.client()));
  EXPECT_TRUE(Eventually([&] {
    std::ifstream task("/proc/" + std::to_string(session.keeper()) + "/stat");
    return StateOf(session.keeper()) == 'S';
  }));
}

INSTANTIATE_TEST_SUITE_P(As, GateBlockingTest, testing::ValuesIn(TestUsers()),
                         [](const auto& param) { return UserName(param.param); });

}  // namespace
}  // namespace spty
