// One test per stage of confinement: that step fails, its name and errno reach the caller, and nothing is
// left.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "keeper/wire.h"
#include "policy/scratch.h"
#include "session/host_probe.h"
#include "support/cached_lookup_linux.h"
#include "support/faulty_keeper_linux.h"
#include "support/limits.h"
#include "support/live_session.h"
#include "support/processes_linux.h"
#include "uapi/landlock.h"

namespace spty {
namespace {

class ConfinedStage : public ::testing::Test {
 protected:
  void SetUp() override {
    // With the real keeper: what it finds is remembered.
    auto features = ProbeHost(SPTY_KEEPER_PATH);
    ASSERT_TRUE(features.ok());
    if (features.value().landlock_abi < 6) GTEST_SKIP() << "needs Landlock's scopes (Linux 6.12)";
  }

  SpawnRequest Request() {
    PolicyInput input = scratch_.Input(R"({"enabled": true})");
    input.env = {{"PATH", "/usr/bin:/bin"}};
    SpawnRequest request = ShellRequest("exit 0");
    request.policy = scratch_.Resolve(std::move(input));
    return request;
  }

  void ExpectFault(const std::vector<Fault>& faults, Stage stage, int err, bool gate = true) {
    FaultyKeeper keeper(faults);
    SpawnRequest request = Request();
    request.keeper_path = keeper.path();
    request.feature_limits.notify = gate;
    auto pump = AcquirePump();
    Footprint before = Footprint::AtRest();
    Listener listener;
    auto session = Session::Spawn(request, *pump, &listener);
    ASSERT_FALSE(session.ok()) << "nothing failed at " << StageName(stage);
    EXPECT_STREQ(StageName(session.error().stage), StageName(stage)) << Describe(session.error());
    EXPECT_EQ(ErrnoName(session.error().err), ErrnoName(err)) << Describe(session.error());
    EXPECT_EQ(Footprint::Settled(before), before);
  }

  // The same where the start is not waited for, as the program will run as far as anybody can tell: it does
  // not run all the same, which is told late.
  void ExpectLateFault(const std::vector<Fault>& faults, Stage stage, bool gate = true) {
    FaultyKeeper keeper(faults);
    SpawnRequest request = Request();
    request.args = {"-c", "echo ran; touch ran"};
    request.cwd = scratch_.project();
    request.unless_sure = true;
    request.keeper_path = keeper.path();
    request.feature_limits.notify = gate;
    auto pump = AcquirePump();
    Footprint before = Footprint::AtRest();
    {
      LiveSession session(request);
      ASSERT_TRUE(session.ok()) << Describe(session.error());
      std::string output;
      const Session::End end = session.ReadToEnd(&output);
      EXPECT_EQ(end.code, 1);
      EXPECT_EQ(end.signal, 0);
      EXPECT_TRUE(output.starts_with(std::string(StageName(stage)) + " failed.: ")) << output;
      EXPECT_EQ(output.find("ran"), std::string::npos) << output;
      EXPECT_FALSE(std::filesystem::exists(scratch_.Project("ran")));
    }
    EXPECT_EQ(Footprint::Settled(before), before);
  }

  Scratch scratch_;
};

// What the next ones stand beside.
TEST_F(ConfinedStage, UnawaitedWithoutAFault) {
  if (!HasCachedLookups()) GTEST_SKIP() << "needs Linux 5.12";
  FaultyKeeper keeper({});
  SpawnRequest request = Request();
  request.args = {"-c", "echo ran; touch ran"};
  request.cwd = scratch_.project();
  request.unless_sure = true;
  request.keeper_path = keeper.path();
  LiveSession session(request);
  ASSERT_TRUE(session.ok()) << Describe(session.error());
  std::string output;
  EXPECT_EQ(session.ReadToEnd(&output).code, 0);
  EXPECT_EQ(output, "ran\n");
  EXPECT_TRUE(std::filesystem::exists(scratch_.Project("ran")));
  EXPECT_TRUE(session->scoped());
}

TEST_F(ConfinedStage, UnawaitedTellsLater) {
  if (!HasCachedLookups()) GTEST_SKIP() << "needs Linux 5.12";
  ExpectLateFault({{landlock::kRestrictSelf, EPERM}}, Stage::kOuterDomain);
  ExpectLateFault({{SYS_capset, EPERM}}, Stage::kPrivileges);
  ExpectLateFault({{SYS_prctl, EINVAL, 0, PR_SET_NO_NEW_PRIVS, true}}, Stage::kPrivileges, false);
  ExpectLateFault({{landlock::kRestrictSelf, E2BIG, -1, 0, true}}, Stage::kLandlock, false);
  ExpectLateFault({{SYS_seccomp, EINVAL}}, Stage::kSeccomp);
}

// Directories with something protected in them are read by the keeper.
TEST_F(ConfinedStage, RulesAroundWhatIsProtected) {
  scratch_.File("home/me/store/key");
  const auto request_with = [&](const std::string& keeper_path) {
    PolicyInput input = scratch_.Input(R"({"enabled": true, "additional_read_only_paths": ["~/store"],)"
                                       R"( "denied_read_paths": ["~/store/key"]})");
    input.env = {{"PATH", "/usr/bin:/bin"}};
    SpawnRequest request = ShellRequest("exit 0");
    request.policy = scratch_.Resolve(std::move(input));
    request.keeper_path = keeper_path;
    return request;
  };
  auto pump = AcquirePump();
  for (const bool fails : {false, true}) {
    const std::vector<Fault> faults = {{SYS_getdents64, EIO}};
    FaultyKeeper keeper(fails ? faults : std::vector<Fault>{});
    const Footprint before = Footprint::AtRest();
    if (fails && HasCachedLookups()) {
      SpawnRequest unawaited = request_with(keeper.path());
      unawaited.unless_sure = true;
      LiveSession session(unawaited);
      ASSERT_TRUE(session.ok());
      std::string output;
      EXPECT_EQ(session.ReadToEnd(&output).code, 1);
      EXPECT_EQ(output, "confinement failed.: " + scratch_.Home("store") + ": Input/output error\n");
      EXPECT_EQ(session->Pid().error().subject, scratch_.Home("store"));
    }
    {
      LiveSession session(request_with(keeper.path()));
      EXPECT_EQ(session.ok(), !fails);
      if (fails) {
        EXPECT_STREQ(StageName(session.error().stage), "confinement");
        EXPECT_EQ(ErrnoName(session.error().err), "EIO");
        EXPECT_EQ(session.error().subject, scratch_.Home("store"));
      } else {
        EXPECT_EQ(session.ReadToEnd().code, 0);
      }
    }
    EXPECT_EQ(Footprint::Settled(before), before);
  }
}

// Who ends a session while the keeper reads has not to wait for that, and nothing runs any more.
TEST_F(ConfinedStage, OfASessionThatEndsWhileRulesAreMade) {
  scratch_.File("home/me/store/key");
  // Enough for the end to come in the middle; the keeper hears of it even if it came before.
  for (int i = 0; i < 20'000; ++i) scratch_.File("home/me/store/" + std::to_string(i));
  PolicyInput input = scratch_.Input(R"({"enabled": true, "additional_read_only_paths": ["~/store"],)"
                                     R"( "denied_read_paths": ["~/store/key"]})");
  input.env = {{"PATH", "/usr/bin:/bin"}};
  SpawnRequest request = ShellRequest("sleep 1000");
  request.policy = scratch_.Resolve(std::move(input));
  request.wait_for_exec = false;
  auto pump = AcquirePump();
  const Footprint before = Footprint::AtRest();
  {
    LiveSession session(request);
    ASSERT_TRUE(session.ok());
    session->EndNow();
    const Result<pid_t> pid = session->Pid();
    ASSERT_FALSE(pid.ok());
    EXPECT_EQ(ErrnoName(pid.error().err), "ECANCELED");
    EXPECT_TRUE(session.listener().WaitUntil([&] { return session->done().has_value(); }));
    EXPECT_EQ(session->ProveEmpty(), Session::Proof::kEmpty);
    std::string output;
    EXPECT_EQ(session.ReadToEnd(&output).signal, SIGKILL);
    EXPECT_EQ(output, "");
  }
  EXPECT_EQ(Footprint::Settled(before), before);
}

// The keeper holds each of them open until it has made its rules.
TEST_F(ConfinedStage, MoreDirectoriesToReadThanItTakes) {
  const auto request_with = [&](uint32_t count) {
    std::string granted;
    std::string denied;
    for (uint32_t i = 0; i < count; ++i) {
      const std::string key = scratch_.File("many/" + std::to_string(i) + "/key");
      granted += (i == 0 ? "" : ", ") + ('"' + scratch_.Path("many/" + std::to_string(i)) + '"');
      denied += (i == 0 ? "" : ", ") + ('"' + key + '"');
    }
    PolicyInput input = scratch_.Input(R"({"enabled": true, "additional_read_only_paths": [)" + granted +
                                       R"(], "denied_read_paths": [)" + denied + "]}");
    input.env = {{"PATH", "/usr/bin:/bin"}};
    SpawnRequest request = ShellRequest("exit 5");
    request.policy = scratch_.Resolve(std::move(input));
    return request;
  };
  auto pump = AcquirePump();
  const Footprint before = Footprint::AtRest();
  {
    // Root has some in /etc and /sys.
    LiveSession enough(request_with(wire::kMaxArounds - 8));
    ASSERT_TRUE(enough.ok()) << Describe(enough.error());
    EXPECT_EQ(enough.ReadToEnd().code, 5);
  }
  {
    LiveSession session(request_with(wire::kMaxArounds + 1));
    ASSERT_FALSE(session.ok());
    EXPECT_STREQ(StageName(session.error().stage), "confinement");
    EXPECT_EQ(session.error().err, E2BIG);
    EXPECT_NE(session.error().subject.find("more than 256"), std::string::npos) << session.error().subject;
  }
  EXPECT_EQ(Footprint::Settled(before), before);
}

TEST_F(ConfinedStage, OuterDomain) {
  ExpectFault({{landlock::kRestrictSelf, EPERM}}, Stage::kOuterDomain, EPERM);
}

// A keeper that cannot prove that kill(-1) spares the host does without it, and says so.
TEST_F(ConfinedStage, ScopeIsClaimedOnlyIfItIsProven) {
  for (const bool proven : {true, false}) {
    for (const bool awaited : {true, false}) {
      FaultyKeeper keeper(proven ? std::vector<Fault>{} : std::vector<Fault>{{SYS_getsockopt, EPERM}});
      PolicyInput input = scratch_.Input(R"({"enabled": true})");
      input.env = {{"PATH", "/usr/bin:/bin"}};
      SpawnRequest request = ShellRequest("read x");
      request.keeper_path = keeper.path();
      request.policy = scratch_.Resolve(std::move(input));
      request.use_cgroup = false;
      request.unless_sure = !awaited;
      LiveSession session(request);
      ASSERT_TRUE(session.ok()) << Describe(session.error());
      // Nothing is printed: it is the news itself that is told, or none has to be.
      if (!awaited && !proven) {
        EXPECT_TRUE(session.listener().WaitUntil([&] { return session->found_weak(); }));
      }
      EXPECT_TRUE(session->Pid().ok());
      EXPECT_FALSE(session->scope_pending());
      EXPECT_EQ(session->scoped(), proven);
      EXPECT_EQ(session->found_weak(), !proven);
    }
  }
}

TEST_F(ConfinedStage, BoundingSet) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  ExpectFault({{SYS_prctl, EPERM, 0, PR_CAPBSET_DROP}}, Stage::kPrivileges, EPERM);
  ExpectFault({{SYS_prctl, EPERM, 0, PR_SET_SECUREBITS}}, Stage::kPrivileges, EPERM);
}

TEST_F(ConfinedStage, Capabilities) {
  ExpectFault({{SYS_capset, EPERM}}, Stage::kPrivileges, EPERM);
  ExpectFault({{SYS_capget, EFAULT}}, Stage::kPrivileges, EFAULT);
}

TEST_F(ConfinedStage, InnerDomain) {
  ExpectFault({{landlock::kRestrictSelf, E2BIG, -1, 0, true}}, Stage::kLandlock, E2BIG, false);
}

TEST_F(ConfinedStage, NoNewPrivileges) {
  ExpectFault({{SYS_prctl, EINVAL, 0, PR_SET_NO_NEW_PRIVS, true}}, Stage::kPrivileges, EINVAL, false);
}

TEST_F(ConfinedStage, Filter) { ExpectFault({{SYS_seccomp, EINVAL}}, Stage::kSeccomp, EINVAL); }

TEST_F(ConfinedStage, Gate) { ExpectFault({{SYS_timerfd_create, EMFILE}}, Stage::kGate, EMFILE); }

// Somebody around us has a listener already: there can only be one.
TEST_F(ConfinedStage, ListenerThatIsTaken) {
  ExpectFault({{SYS_getpriority, EPERM, -1, 0, true}}, Stage::kSeccomp, EBUSY);
}

// Every number of free descriptors up to the one that suffices.
TEST_F(ConfinedStage, DescriptorsOfTheHostRunOut) {
  const SpawnRequest request = Request();
  auto pump = AcquirePump();
  Listener listener;
  std::set<std::string> stages;
  bool started = false;
  for (int spare = 0; spare < 60 && !started; ++spare) {
    Footprint before = Footprint::AtRest();
    Error error;
    {
      DescriptorLimit limit(spare);
      auto session = Session::Spawn(request, *pump, &listener);
      started = session.ok();
      if (started) session.value()->Release();
      if (!started) error = session.error();
    }
    EXPECT_EQ(Footprint::Settled(before), before) << spare;
    if (started) break;
    EXPECT_EQ(ErrnoName(error.err), "EMFILE") << Describe(error);
    stages.insert(StageName(error.stage));
  }
  EXPECT_TRUE(started);
  stages.erase("cgroup");  // only where there is one
  EXPECT_EQ(stages, (std::set<std::string>{"confinement", "keeper", "pty"}));
}

}  // namespace
}  // namespace spty
