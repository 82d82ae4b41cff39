#include "session/session.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "support/live_session.h"
#include "support/processes.h"
#include "support/temp_dir.h"

namespace spty {
namespace {

TEST(Session, RunsAProgramOnATerminal) {
  LiveSession session(ShellRequest("test -t 0 && test -t 1 && test -t 2 && tty"));
  ASSERT_TRUE(session.ok()) << Describe(session.error());
  EXPECT_GT(session.pid(), 1);
  std::string name = session->slave_name();
  std::string output;
  Session::End end = session.ReadToEnd(&output);
  EXPECT_EQ(output, name + "\n");
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.signal, 0);
}

TEST(Session, HasTheShellsOwnPid) {
  LiveSession session(ShellRequest("echo $$"));
  std::string output;
  pid_t pid = session.pid();
  session.ReadToEnd(&output);
  EXPECT_EQ(output, std::to_string(pid) + "\n");
}

TEST(Session, SearchesTheChildsPath) {
  TempDir dir;
  dir.Write("only-there", "#!/bin/sh\nexit 33\n", 0755);
  SpawnRequest request = ShellRequest("");
  request.file = "only-there";
  request.env = {"PATH=/nonexistent:" + dir.path()};
  LiveSession session(request);
  ASSERT_TRUE(session.ok()) << Describe(session.error());
  EXPECT_EQ(session.ReadToEnd().code, 33);
}

TEST(Session, ReportsExitCodesAndSignals) {
  EXPECT_EQ(LiveSession(ShellRequest("exit 7")).ReadToEnd().code, 7);
  Session::End end = LiveSession(ShellRequest("kill -KILL $$")).ReadToEnd();
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.signal, SIGKILL);
}

TEST(Session, GivesTheEndOnlyAfterAllOutputWasTaken) {
  LiveSession session(ShellRequest("printf 'x%.0s' 1 2 3 4 5; exit 3"));
  ASSERT_TRUE(session.listener().WaitUntil([&] { return !IsRunning(session.pid()); }) ||
              WaitForDeath(session.pid()));
  // Nothing was taken: no end, however long ago it came.
  session.pump().Run([] {});
  EXPECT_FALSE(session->TakeEnd().has_value());
  std::string output;
  EXPECT_EQ(session.ReadToEnd(&output).code, 3);
  EXPECT_EQ(output, "xxxxx");
}

TEST(Session, HasEveryByteBeforeItsEndTimeAndAgain) {
  std::string expected;
  for (int i = 1; i <= 3000; ++i) expected += std::to_string(i) + "\n";
  SpawnRequest request = ShellRequest("");
  request.file = "seq";
  request.args = {"1", "3000"};
  for (int i = 0; i < 50; ++i) {
    LiveSession session(request);
    std::string output;
    EXPECT_EQ(session.ReadToEnd(&output).code, 0);
    ASSERT_TRUE(output == expected) << output.size() << " of " << expected.size();
  }
}

TEST(Session, CarriesInputToTheProgram) {
  LiveSession session(ShellRequest("stty -echo; echo ready; read line; echo got $line"));
  session.ReadUntil("ready\n");
  EXPECT_EQ(session->Write("a line\n"), InputQueue::Flushed::kEmpty);
  EXPECT_EQ(session.ReadUntil("\n"), "got a line\n");
}

TEST(Session, SaysWhenQueuedInputHasGoneThrough) {
  LiveSession session(ShellRequest("stty raw -echo; echo ready; head -c 100000 | cksum"));
  session.ReadUntil("ready\n");
  ASSERT_EQ(session->Write(std::string(100'000, 'i')), InputQueue::Flushed::kWaiting);
  EXPECT_GT(session->queued_input(), 0U);
  EXPECT_TRUE(session.listener().WaitUntil([&] { return session->TakeInputFlushed(); }));
  EXPECT_FALSE(session->TakeInputFlushed()) << "once";
  EXPECT_NE(session.ReadUntil(" 100000").size(), 0U);
}

TEST(Session, ResizesAndTellsTheForegroundJob) {
  LiveSession session(ShellRequest("trap 'stty size; exit 0' WINCH; echo ready; while :; do read x; done"));
  session.ReadUntil("ready\n");
  ASSERT_TRUE(session->Resize(WindowSize{101, 33, 0, 0}).ok());
  session->Write("\n");
  session.ReadUntil("33 101\n");
  EXPECT_EQ(session.ReadToEnd().code, 0);
}

TEST(Session, SignalsTheShellUntilItHasEnded) {
  LiveSession session(ShellRequest("trap 'exit 44' TERM; echo ready; while :; do read x; done"));
  session.ReadUntil("ready\n");
  EXPECT_TRUE(session->Signal(SIGTERM));
  session->Write("\n");
  EXPECT_EQ(session.ReadToEnd().code, 44);
  EXPECT_FALSE(session->Signal(SIGTERM));
  EXPECT_FALSE(session->Signal(SIGKILL));
}

TEST(Session, NamesTheForegroundProgram) {
  LiveSession session(ShellRequest("echo ready; read x; exec sleep 1000"));
  session.ReadUntil("ready\n");
  EXPECT_EQ(session->ForegroundProgram(), "/bin/sh");
  session->Write("\n");
  EXPECT_TRUE(Eventually([&] { return session->ForegroundProgram() == "sleep"; }));
  session->Signal(SIGKILL);
  session.ReadToEnd();
  EXPECT_EQ(session->ForegroundProgram(), "");
}

TEST(Session, StartsWithTheCallersSignalMask) {
  sigset_t block;
  sigemptyset(&block);
  sigaddset(&block, SIGUSR2);
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &block, &before);
  SpawnRequest request = ShellRequest("");
  request.file = std::string(SPTY_PROBE_DIR) + "/describe_self";
  LiveSession session(request);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_NE(session.ReadUntil("done\n").find("blocked=" + std::to_string(SIGUSR2) + ",\n"),
            std::string::npos);
}

TEST(Session, RunsAsAnotherUserWithThatUsersGroups) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  SpawnRequest request = ShellRequest("");
  request.file = std::string(SPTY_PROBE_DIR) + "/describe_self";
  request.ids = SpawnRequest::Ids{4242, 4343};  // nobody's account
  LiveSession session(request);
  ASSERT_TRUE(session.ok()) << Describe(session.error());
  std::string output = session.ReadUntil("done\n");
  EXPECT_NE(output.find("uids=4242,4242\n"), std::string::npos) << output;
  EXPECT_NE(output.find("gids=4343,4343\n"), std::string::npos) << output;
  EXPECT_NE(output.find("groups=4343,\n"), std::string::npos) << output;
}

TEST(Session, ShowsALateFailureAsOutputAndExitOne) {
  SpawnRequest request = ShellRequest("");
  request.file = "/nonexistent/program";
  request.wait_for_exec = false;
  LiveSession session(request);
  ASSERT_TRUE(session.ok()) << Describe(session.error());
  EXPECT_GT(session.pid(), 1);
  std::string output;
  Session::End end = session.ReadToEnd(&output);
  EXPECT_EQ(output, "execvp(3) failed.: No such file or directory\n");
  EXPECT_EQ(end.code, 1);
  EXPECT_EQ(end.signal, 0);
}

TEST(Session, RunsWithoutWaitingForExecToo) {
  SpawnRequest request = ShellRequest("echo fine; exit 2");
  request.wait_for_exec = false;
  LiveSession session(request);
  std::string output;
  EXPECT_EQ(session.ReadToEnd(&output).code, 2);
  EXPECT_EQ(output, "fine\n");
}

}  // namespace
}  // namespace spty
