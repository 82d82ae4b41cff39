// How sessions end, in every state, and that nothing stays behind.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/session.h"
#include "support/in_child.h"
#include "support/live_session.h"
#include "support/processes.h"
#include "support/temp_dir.h"

namespace spty {
namespace {

TEST(Session, HangUpEndsTheShellAndReportsIt) {
  LiveSession session(ShellRequest("echo ready; read x"));
  session.ReadUntil("ready\n");
  session->HangUp();
  EXPECT_EQ(session->master(), -1);
  Session::End end = session.ReadToEnd();
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.signal, SIGHUP);
  session->HangUp();  // nothing more to do
  EXPECT_EQ(session->Resize(WindowSize{}).error().err, EBADF);
  EXPECT_EQ(session->Write("x"), InputQueue::Flushed::kDead);
}

TEST(Session, HangUpReachesAShellThatClosedItsStdio) {
  LiveSession session(ShellRequest("echo ready; exec <&- >&- 2>&-; exec sleep 1000"));
  session.ReadUntil("ready\n");
  session->HangUp();
  EXPECT_EQ(session.ReadToEnd().signal, SIGHUP);
}

TEST(Session, StaysWithAShellThatClosesItsStdioAndComesBack) {
  TempDir dir;
  std::string fifo = dir.Fifo("continue");
  LiveSession session(
      ShellRequest("echo before; exec <&- >&- 2>&-; read x <" + fifo + "; echo after >/dev/tty; exit 6"));
  session.ReadUntil("before\n");
  Fd writer(open(fifo.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(IsRunning(session.pid()));
  EXPECT_FALSE(session->TakeEnd().has_value());
  ASSERT_EQ(write(writer.get(), "\n", 1), 1);
  std::string output;
  EXPECT_EQ(session.ReadToEnd(&output).code, 6);
  EXPECT_EQ(output, "after\n");
}

TEST(Session, EndsWithItsShellThoughABackgroundJobHoldsTheTerminal) {
  LiveSession session(ShellRequest("trap '' HUP; sleep 1000 & echo $!; exit 4"));
  std::string output;
  EXPECT_EQ(session.ReadToEnd(&output).code, 4);
  EXPECT_TRUE(WaitForDeath(std::stoi(output))) << "it ends with the session";
}

TEST(Session, EndsWhenAnOutsiderKillsTheKeeper) {
  pid_t shell;
  {
    LiveSession session(ShellRequest("echo ready; read x"));
    session.ReadUntil("ready\n");
    shell = session.pid();
    ASSERT_EQ(ParentOf(ParentOf(shell)), getpid());
    ASSERT_EQ(kill(ParentOf(shell), SIGKILL), 0);
    Session::End end = session.ReadToEnd();
    EXPECT_EQ(end.code, 0);
    EXPECT_EQ(end.signal, SIGHUP);
    EXPECT_FALSE(session->Signal(SIGTERM));
  }
  EXPECT_TRUE(WaitForDeath(shell)) << "hung up with its terminal";
}

// Stopped, it cannot hear that its host lets go.
TEST(Session, EndsThoughSomebodyStoppedTheKeeper) {
  Footprint before = Footprint::AtRest();
  pid_t shell;
  {
    LiveSession session(ShellRequest("trap '' HUP; echo ready; while :; do sleep 1000; done"));
    session.ReadUntil("ready\n");
    shell = session.pid();
    ASSERT_EQ(kill(ParentOf(shell), SIGSTOP), 0);
  }
  EXPECT_TRUE(WaitForDeath(shell));
  EXPECT_EQ(Footprint::Settled(before), before);
}

TEST(Session, EndsWhenAnOutsiderKillsTheShell) {
  LiveSession session(ShellRequest("echo ready; read x"));
  session.ReadUntil("ready\n");
  ASSERT_EQ(kill(session.pid(), SIGKILL), 0);
  EXPECT_EQ(session.ReadToEnd().signal, SIGKILL);
}

// What a session may be doing when its host lets go.
struct State {
  const char* name;
  const char* script;
  std::function<void(LiveSession&)> reach;
};

void PrintTo(const State& state, std::ostream* out) { *out << state.name; }

const State kStates[] = {
    {"JustStarted", "exec sleep 1000", [](LiveSession&) {}},
    {"Running", "echo ready; read x", [](LiveSession& session) { session.ReadUntil("ready\n"); }},
    {"IgnoringSignals", "trap '' HUP INT TERM QUIT; echo ready; while :; do sleep 1000; done",
     [](LiveSession& session) { session.ReadUntil("ready\n"); }},
    {"WithOutputNobodyTook", "yes | head -c 2000000; sleep 1000",
     [](LiveSession& session) {
       EXPECT_TRUE(session.listener().WaitUntil([&] { return session->has_output() || session->HasEnd(); }));
     }},
    {"WithInputNobodyRead", "stty raw -echo; echo ready; exec sleep 1000",
     [](LiveSession& session) {
       session.ReadUntil("ready\n");
       EXPECT_EQ(session->Write(std::string(1'000'000, 'x')), InputQueue::Flushed::kWaiting);
     }},
    {"Ended", "exit 0", [](LiveSession& session) { session.ReadToEnd(); }},
    {"EndedWithOutputNobodyTook", "echo left", [](LiveSession& session) { WaitForDeath(session.pid()); }},
    {"HungUp", "trap '' HUP; echo ready; while :; do sleep 1000; done",
     [](LiveSession& session) {
       session.ReadUntil("ready\n");
       session->HangUp();
     }},
    {"ReleasedBefore", "exec sleep 1000", [](LiveSession& session) { session->Release(); }},
};

class Release : public testing::TestWithParam<State> {};

TEST_P(Release, LeavesNothingBehind) {
  Footprint before = Footprint::AtRest();
  pid_t shell;
  {
    LiveSession session(ShellRequest(GetParam().script));
    ASSERT_TRUE(session.ok()) << Describe(session.error());
    shell = session.pid();
    GetParam().reach(session);
    EXPECT_NE(Footprint::Now(), before);
  }
  EXPECT_FALSE(IsRunning(shell));
  EXPECT_EQ(Footprint::Settled(before), before);
}

INSTANTIATE_TEST_SUITE_P(InAnyState, Release, testing::ValuesIn(kStates),
                         [](const auto& state) { return std::string(state.param.name); });

TEST(Session, IsSilentAfterRelease) {
  auto pump = AcquirePump();
  Listener listener;
  auto session = Session::Spawn(ShellRequest("while :; do echo x; done"), *pump, &listener);
  ASSERT_TRUE(session.ok());
  ASSERT_TRUE(listener.WaitUntil([&] { return listener.calls() > 0; }));
  session.value()->Release();
  size_t calls = listener.calls();
  EXPECT_TRUE(WaitForDeath(session.value()->Pid().value()));
  pump->Run([] {});
  EXPECT_EQ(listener.calls(), calls);
}

TEST(Sessions, TwoHundredAtOnceKeepApart) {
  Footprint before = Footprint::AtRest();
  {
    auto pump = AcquirePump();
    std::vector<std::unique_ptr<LiveSession>> sessions;
    for (int i = 0; i < 200; ++i) {
      sessions.push_back(std::make_unique<LiveSession>(
          ShellRequest("echo I am " + std::to_string(i) + "; read x; exit $((x % 256))")));
      ASSERT_TRUE(sessions.back()->ok()) << i << ": " << Describe(sessions.back()->error());
    }
    for (int i = 0; i < 200; ++i) {
      sessions[static_cast<size_t>(i)]->ReadUntil("I am " + std::to_string(i) + "\n");
      (*sessions[static_cast<size_t>(i)])->Write(std::to_string(i) + "\n");
    }
    for (int i = 0; i < 200; ++i) EXPECT_EQ(sessions[static_cast<size_t>(i)]->ReadToEnd().code, i);
    EXPECT_EQ(Footprint::Now().threads, before.threads + 1) << "one pump for all";
  }
  EXPECT_EQ(Footprint::Settled(before), before);
}

TEST(Sessions, TwoHundredInARowLeaveNothing) {
  auto pump = AcquirePump();
  auto one = [&](int i) {
    LiveSession session(ShellRequest("exit " + std::to_string(i % 256)));
    EXPECT_EQ(session.ReadToEnd().code, i % 256);
  };
  one(0);
  ASSERT_TRUE(Eventually([] { return ChildrenOf(getpid()).empty(); }));
  pump->Run([] {});  // what the end of a session leaves to the pump is done as well
  Footprint before = Footprint::AtRest();
  for (int i = 0; i < 200; ++i) one(i);
  EXPECT_TRUE(Eventually([&] { return Footprint::Now() == before; })) << ToString(Footprint::Now());
}

TEST(Sessions, WorkInAHostThatIgnoresItsChildren) {
  EXPECT_EQ(InChild([]() -> std::string {
              signal(SIGCHLD, SIG_IGN);
              Footprint before = Footprint::AtRest();
              {
                LiveSession session(ShellRequest("exit 8"));
                CHILD_CHECK(session.ok());
                CHILD_CHECK(session.ReadToEnd().code == 8);
              }
              CHILD_CHECK(Footprint::Settled(before) == before);
              return "";
            }),
            "");
}

TEST(Sessions, WorkInAHostWithoutStdio) {
  EXPECT_EQ(InChild([]() -> std::string {
              for (int fd = 0; fd <= 2; ++fd) Fd closing(fd);
              LiveSession session(ShellRequest("echo fine; exit 8"));
              CHILD_CHECK(session.ok());
              std::string output;
              CHILD_CHECK(session.ReadToEnd(&output).code == 8);
              CHILD_CHECK(output == "fine\n");
              return "";
            }),
            "");
}

TEST(Sessions, EndWithAHostThatIsKilled) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Fd reading(ends[0]);
  Fd writing(ends[1]);
  pid_t host = fork();
  if (host == 0) {
    LiveSession session(ShellRequest("trap '' HUP TERM; sleep 1000 & echo $!; while :; do sleep 1000; done"));
    pid_t pids[2] = {session.pid(), std::stoi(session.ReadUntil("\n"))};
    if (write(writing.get(), pids, sizeof pids) != sizeof pids) _exit(1);
    for (;;) pause();
  }
  pid_t pids[2] = {0, 0};
  writing.Reset();
  ASSERT_EQ(read(reading.get(), pids, sizeof pids), ssize_t{sizeof pids});
  for (pid_t pid : pids) EXPECT_TRUE(IsRunning(pid));
  kill(host, SIGKILL);
  waitpid(host, nullptr, 0);
  for (pid_t pid : pids) EXPECT_TRUE(WaitForDeath(pid));
}

}  // namespace
}  // namespace spty
