// Sessions whose start is not waited for: what goes wrong in the keeper is told later, and nothing is left.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "support/cached_lookup_linux.h"
#include "support/faulty_keeper_linux.h"
#include "support/live_session.h"
#include "support/processes_linux.h"

namespace spty {
namespace {

SpawnRequest Unawaited(const std::string& script) {
  SpawnRequest request = ShellRequest(script);
  request.wait_for_exec = false;
  return request;
}

struct Failure {
  Stage stage;
  int err;
  std::string output;
};

void ExpectLateFailure(const std::string& keeper_path, const Failure& failure, bool lost) {
  auto pump = AcquirePump();
  const Footprint before = Footprint::AtRest();
  {
    SpawnRequest request = Unawaited("exit 0");
    request.keeper_path = keeper_path;
    LiveSession session(request);
    ASSERT_TRUE(session.ok()) << Describe(session.error());
    const Result<pid_t> pid = session->Pid();
    ASSERT_FALSE(pid.ok()) << "there is a process " << pid.value();
    EXPECT_STREQ(StageName(pid.error().stage), StageName(failure.stage));
    EXPECT_EQ(ErrnoName(pid.error().err), ErrnoName(failure.err));
    std::string output;
    const Session::End end = session.ReadToEnd(&output);
    EXPECT_EQ(output, failure.output);
    EXPECT_EQ(end.code, 1);
    EXPECT_EQ(end.signal, 0);
    EXPECT_TRUE(Eventually([&] { return session->keeper_gone(); }));
    EXPECT_EQ(session->keeper_lost(), lost);
    // It stays known.
    EXPECT_FALSE(session->Pid().ok());
    EXPECT_FALSE(session->Signal(SIGTERM));
  }
  EXPECT_EQ(Footprint::Settled(before), before);
}

TEST(UnawaitedStart, TellsTheShellsOwnPid) {
  LiveSession session(Unawaited("echo $$; read line"));
  ASSERT_TRUE(session.ok()) << Describe(session.error());
  const pid_t pid = session.pid();
  EXPECT_EQ(session.ReadUntil("\n"), std::to_string(pid) + "\n");
  EXPECT_EQ(session.pid(), pid);
}

TEST(UnawaitedStart, TellsThePidOfAShellThatHasEnded) {
  LiveSession session(Unawaited("echo $$"));
  ASSERT_TRUE(session.ok()) << Describe(session.error());
  std::string output;
  session.ReadToEnd(&output);
  EXPECT_EQ(std::to_string(session.pid()) + "\n", output);
}

// The same requests as above and below work with the keeper as it is.
TEST(UnawaitedStart, ThatCannotForkIsTold) {
  std::vector<Fault> faults = {{SYS_clone, EAGAIN}, {SYS_clone3, EAGAIN}};
#ifdef SYS_fork
  faults.push_back({SYS_fork, EAGAIN});
#endif
  ExpectLateFailure(FaultyKeeper(faults).path(),
                    {Stage::kFork, EAGAIN, "fork failed.: Resource temporarily unavailable\n"}, false);
}

TEST(UnawaitedStart, ThatFailsBeforeTheForkIsTold) {
  FaultyKeeper keeper({{SYS_prctl, EPERM, 0, PR_SET_CHILD_SUBREAPER}});
  ExpectLateFailure(keeper.path(), {Stage::kSubreaper, EPERM, "subreaper failed.: Operation not permitted\n"},
                    false);
}

// Whether it has started something nobody knows.
TEST(UnawaitedStart, OfAKeeperThatEndsWithoutAnAnswerIsTold) {
  TempDir dir;
  const std::string path = dir.Write("keeper", "#!/bin/sh\nhead -c 100 <&3 >/dev/null\n", 0755);
  ExpectLateFailure(path, {Stage::kKeeper, ECONNRESET, "keeper failed.: Connection reset by peer\n"}, true);
}

// Only who waits for the answer hears at once that there is none.
TEST(UnawaitedStart, IsForWhatIsSureToRun) {
  if (!HasCachedLookups()) GTEST_SKIP() << "needs Linux 5.12";
  TempDir dir;
  const std::string silent = dir.Write("keeper", "#!/bin/sh\nhead -c 100 <&3 >/dev/null\n", 0755);
  const std::string script = dir.Write("script", "#!/bin/sh\nexit 3\n", 0755);
  for (const bool sure : {true, false}) {
    SpawnRequest request = ShellRequest("exit 3");
    if (!sure) request.file = script;
    request.unless_sure = true;
    {
      LiveSession session(request);
      ASSERT_TRUE(session.ok()) << Describe(session.error());
      EXPECT_EQ(session.ReadToEnd().code, 3);
    }
    request.keeper_path = silent;
    LiveSession session(request);
    EXPECT_EQ(session.ok(), sure);
    if (session.ok()) {
      EXPECT_EQ(session.ReadToEnd().code, 1);
    } else {
      EXPECT_STREQ(StageName(session.error().stage), "keeper");
    }
  }
}

// What only the start finds out is told with the place that it is about, as if it had been waited for.
TEST(UnawaitedStart, OfAProgramThatSomebodyWritesIsTold) {
  if (!HasCachedLookups()) GTEST_SKIP() << "needs Linux 5.12";
  TempDir dir;
  const std::string program = dir.path() + "/program";
  std::filesystem::copy_file("/bin/true", program);
  std::filesystem::permissions(program, std::filesystem::perms(0755));
  SpawnRequest request = ShellRequest("");
  request.file = program;
  request.args = {};
  request.unless_sure = true;
  for (const bool busy : {false, true}) {
    const Fd writer(busy ? open(program.c_str(), O_WRONLY | O_CLOEXEC) : -1);
    auto pump = AcquirePump();
    const Footprint before = Footprint::AtRest();
    {
      LiveSession session(request);
      ASSERT_TRUE(session.ok()) << Describe(session.error());
      std::string output;
      EXPECT_EQ(session.ReadToEnd(&output).code, busy ? 1 : 0);
      EXPECT_EQ(output, busy ? "execvp(3) failed.: " + program + ": Text file busy\n" : "");
      EXPECT_EQ(session->Pid().ok(), !busy);
      if (busy) {
        EXPECT_EQ(session->Pid().error().subject, program);
      }
    }
    EXPECT_EQ(Footprint::Settled(before), before);
  }
  // Who waits hears it at once.
  const Fd writer(open(program.c_str(), O_WRONLY | O_CLOEXEC));
  request.unless_sure = false;
  LiveSession session(request);
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().err, ETXTBSY);
}

// It says so while it reads a large directory, and then what it was about.
TEST(UnawaitedStart, OfAKeeperThatTakesItsTimeIsWaitedFor) {
  const auto bytes = [](const auto& value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  wire::Failed failed{Stage::kConfinement, 0, EIO, 0, {}};
  strcpy(failed.text, "/some/where");
  const std::string frames =
      bytes(wire::Header{wire::kMagic, wire::kVersion, wire::Type::kWorking, 0, 0}) +
      bytes(wire::Header{wire::kMagic, wire::kVersion, wire::Type::kWorking, 0, 0}) +
      bytes(wire::Header{wire::kMagic, wire::kVersion, wire::Type::kFailed, sizeof failed, 0}) +
      bytes(failed);
  TempDir dir;
  const std::string answer = dir.Write("answer", frames);
  const std::string path = dir.Write(
      "keeper", "#!/bin/sh\nhead -c 100 <&3 >/dev/null; cat '" + answer + "' >&3; cat <&3 >/dev/null\n",
      0755);
  ExpectLateFailure(
      path, {Stage::kConfinement, EIO, "confinement failed.: /some/where: Input/output error\n"}, false);
  SpawnRequest request = ShellRequest("exit 0");
  request.keeper_path = path;
  LiveSession session(request);
  ASSERT_FALSE(session.ok());
  EXPECT_STREQ(StageName(session.error().stage), "confinement");
  EXPECT_EQ(session.error().subject, "/some/where");
}

TEST(UnawaitedStart, OfAKeeperThatSpeaksAnotherLanguageIsTold) {
  TempDir dir;
  const std::string path =
      dir.Write("keeper", "#!/bin/sh\necho this is not a frame at all >&3\ncat <&3\n", 0755);
  ExpectLateFailure(path, {Stage::kKeeper, EPROTO, "keeper failed.: Protocol error\n"}, true);
}

// Ten seconds, and then nobody waits any longer: neither who lets it run nor who has ended it meanwhile.
TEST(UnawaitedStart, OfAKeeperThatNeverAnswersFails) {
  TempDir dir;
  const auto silent = [&](const std::string& name) {
    SpawnRequest request = Unawaited("exit 0");
    request.keeper_path =
        dir.Write(name, "#!/bin/sh\necho $$ > " + dir.File(name + "-pid") + "\nexec sleep 60\n", 0755);
    return request;
  };
  {
    LiveSession left_alone(silent("left-alone"));
    LiveSession ended(silent("ended"));
    ASSERT_TRUE(left_alone.ok() && ended.ok());
    ended->EndNow();
    for (LiveSession* session : {&left_alone, &ended}) {
      const Result<pid_t> pid = (*session)->Pid();
      ASSERT_FALSE(pid.ok());
      EXPECT_EQ(ErrnoName(pid.error().err), "ETIMEDOUT");
      std::string output;
      EXPECT_EQ(session->ReadToEnd(&output).code, 1);
      EXPECT_EQ(output, "keeper failed.: Connection timed out\n");
    }
    for (const char* name : {"left-alone-pid", "ended-pid"}) {
      pid_t keeper = 0;
      ASSERT_TRUE(std::ifstream(dir.File(name)) >> keeper);
      EXPECT_EQ(kill(keeper, SIGKILL), 0);
    }
    for (LiveSession* session : {&left_alone, &ended})
      EXPECT_TRUE(Eventually([&] { return (*session)->keeper_gone(); }));
  }
}

// As a session does that stops its keeper before that has told of the start.
TEST(UnawaitedStart, OfAKeeperThatWasStoppedGoesOn) {
  TempDir dir;
  SpawnRequest request = Unawaited("echo fine; exit 4");
  request.keeper_path = dir.Write("keeper", "#!/bin/sh\nkill -STOP $$\nexec " SPTY_KEEPER_PATH "\n", 0755);
  LiveSession session(request);
  ASSERT_TRUE(session.ok()) << Describe(session.error());
  EXPECT_GT(session.pid(), 1);
  std::string output;
  EXPECT_EQ(session.ReadToEnd(&output).code, 4);
  EXPECT_EQ(output, "fine\n");
}

TEST(UnawaitedStart, TakesSignalsFromTheBeginning) {
  LiveSession session(Unawaited("exec sleep 1000"));
  ASSERT_TRUE(session.ok()) << Describe(session.error());
  EXPECT_TRUE(session->Signal(SIGKILL));
  EXPECT_EQ(session.ReadToEnd().signal, SIGKILL);
}

TEST(UnawaitedStart, CanBeHungUpAtOnce) {
  LiveSession session(Unawaited("exec sleep 1000"));
  ASSERT_TRUE(session.ok()) << Describe(session.error());
  session->HangUp();
  EXPECT_EQ(session.ReadToEnd().signal, SIGHUP);
}

TEST(UnawaitedStart, CanBeEndedAtOnce) {
  auto pump = AcquirePump();
  const Footprint before = Footprint::AtRest();
  for (int i = 0; i < 50; ++i) {
    LiveSession session(Unawaited("sleep 1000 & sleep 1000"));
    ASSERT_TRUE(session.ok()) << Describe(session.error());
    session->EndNow();
    EXPECT_TRUE(Eventually([&] { return session->ProveEmpty() == Session::Proof::kEmpty; }));
    EXPECT_FALSE(session->keeper_lost());
  }
  EXPECT_EQ(Footprint::Settled(before), before);
}

TEST(UnawaitedStart, CanBeLetGoOfAtOnce) {
  auto pump = AcquirePump();
  const Footprint before = Footprint::AtRest();
  for (int i = 0; i < 50; ++i) LiveSession session(Unawaited("sleep 1000 & sleep 1000"));
  EXPECT_EQ(Footprint::Settled(before), before);
}

}  // namespace
}  // namespace spty
