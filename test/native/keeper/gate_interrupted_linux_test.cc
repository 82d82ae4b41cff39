// Callers that are interrupted or die while they wait, and a keeper that dies.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "keeper/gate_waiting_linux.h"
#include "support/in_child.h"

namespace spty {
namespace {

class GateInterruptedTest : public GateWaitingTest {};

void Ignore(int) {}

bool Catch(int number, int flags) {
  struct sigaction action {};
  action.sa_handler = Ignore;
  action.sa_flags = flags;
  return sigaction(number, &action, nullptr) == 0;
}

TEST_P(GateInterruptedTest, ASignalInterruptsTheCaller) {
  setup_.visible = true;
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

TEST_P(GateInterruptedTest, ARestartedCallGoesOn) {
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

// With a filter that only lets fatal signals through once the gate has the request.
TEST_P(GateInterruptedTest, SignalsDoNotDisturbAKillableWait) {
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

TEST_P(GateInterruptedTest, ADeadCallerLeavesNothingBehind) {
  setup_.visible = true;
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
  // The file that it held goes after the socket.
  EXPECT_TRUE(Eventually([&] {
    const auto open = DescriptorsOf(session.keeper());
    return std::ranges::none_of(open, [&](const auto& one) { return one.second.starts_with(dir_.path()); });
  }));
}

TEST_P(GateInterruptedTest, ADeadKeeperMeansRefusal) {
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

INSTANTIATE_TEST_SUITE_P(As, GateInterruptedTest, testing::ValuesIn(TestUsers()),
                         [](const auto& param) { return UserName(param.param); });

}  // namespace
}  // namespace spty
