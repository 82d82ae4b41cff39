// Sessions under a policy, on the real kernel: what it decides is what the policy says.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <sstream>

#include "policy/scratch.h"
#include "session/host_probe.h"
#include "support/live_session.h"

namespace spty {
namespace {

class ConfinedSession : public ::testing::Test {
 protected:
  void SetUp() override {
    auto features = ProbeHost(SPTY_KEEPER_PATH);
    ASSERT_TRUE(features.ok()) << Describe(features.error());
    if (features.value().landlock_abi < 3) GTEST_SKIP() << "needs Landlock (Linux 6.2)";
  }

  SpawnRequest Request(const std::string& script, PolicyInput input) {
    input.env = {{"PATH", "/usr/bin:/bin"}};
    SpawnRequest request = ShellRequest(script);
    request.policy = scratch_.Resolve(std::move(input));
    request.cwd = scratch_.project();
    return request;
  }

  std::string Output(const SpawnRequest& request) {
    LiveSession session(request);
    EXPECT_TRUE(session.ok()) << Describe(session.error());
    std::string output;
    if (session.ok()) session.ReadToEnd(&output);
    return output;
  }

  Scratch scratch_;
};

constexpr char kTerminal[] = R"({"enabled": true})";

TEST_F(ConfinedSession, ReadsAndWritesWhatIsGrantedAndNothingElse) {
  const std::string secret = scratch_.File("home/me/secret", "the-secret");
  const std::string act = "cat " + secret + "; echo new > " + secret + "; echo mine > own; cat own";
  SpawnRequest outside = ShellRequest(act);
  outside.cwd = scratch_.project();
  EXPECT_NE(Output(outside).find("the-secret"), std::string::npos);
  scratch_.File("home/me/secret", "the-secret");

  const std::string inside = Output(Request(act, scratch_.Input(kTerminal)));
  EXPECT_EQ(inside.find("the-secret"), std::string::npos) << inside;
  EXPECT_NE(inside.find("mine"), std::string::npos) << inside;

  const std::string granted = Output(
      Request(act, scratch_.Input(R"({"enabled": true, "additional_read_write_paths": ["~/secret"]})")));
  EXPECT_NE(granted.find("the-secret"), std::string::npos) << granted;
}

TEST_F(ConfinedSession, ReportsNoPrivilegesAndOnlyThreeDescriptors) {
  // The glob's own descriptor of the directory is gone by the time that the names are tested.
  const std::string act =
      "grep -E '^(Cap...|NoNewPrivs|Seccomp):' /proc/self/status; "
      "for fd in /proc/$$/fd/*; do [ -e $fd ] && echo descriptor ${fd##*/}; done; echo end";
  const std::string output = Output(Request(act, scratch_.Input(kTerminal)));
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"})
    EXPECT_NE(output.find(std::string(set) + ":\t0000000000000000"), std::string::npos) << output;
  if (geteuid() == 0) {
    EXPECT_NE(output.find("CapBnd:\t0000000000000000"), std::string::npos) << output;
  }
  EXPECT_NE(output.find("NoNewPrivs:\t1"), std::string::npos);
  EXPECT_NE(output.find("Seccomp:\t2"), std::string::npos);
  EXPECT_NE(output.find("\ndescriptor 0\ndescriptor 1\ndescriptor 2\nend"), std::string::npos) << output;
}

// Root's way back to capabilities. A session of somebody else cannot set these, and has nothing to gain.
TEST_F(ConfinedSession, LocksTheSecureBitsOfRoot) {
  SpawnRequest request = Request("", scratch_.Input(R"({"enabled": true, "additional_executable_paths": [")" +
                                                    std::string(SPTY_PROBE_DIR) + R"("]})"));
  request.file = std::string(SPTY_PROBE_DIR) + "/escape_machine_linux";
  request.args = {"secure-bits"};
  SpawnRequest outside = request;
  outside.policy = nullptr;
  EXPECT_NE(Output(outside).find("secure bits 0x0\n"), std::string::npos);
  // NOROOT, KEEP_CAPS_LOCKED and NO_CAP_AMBIENT_RAISE, with their locks.
  const std::string expected = geteuid() == 0 ? "secure bits 0xe3\n" : "secure bits 0x0\n";
  const std::string inside = Output(request);
  EXPECT_NE(inside.find(expected), std::string::npos) << inside;
}

TEST_F(ConfinedSession, KeepsUmaskAndLimits) {
  const std::string act = "umask; ulimit -S -a; ulimit -H -a";
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit odd{before.rlim_cur - 3, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &odd), 0);
  const mode_t mask = umask(0037);
  const std::string inside = Output(Request(act, scratch_.Input(kTerminal)));
  SpawnRequest unconfined = ShellRequest(act);
  const std::string outside = Output(unconfined);
  umask(mask);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(inside, outside);
  EXPECT_EQ(inside.find("0037\n"), 0U) << inside;
  EXPECT_NE(inside.find(std::to_string(odd.rlim_cur) + "\n"), std::string::npos) << inside;
}

TEST_F(ConfinedSession, AnExchangedGrantIsAnErrorAndNothingStarts) {
  const std::string place = scratch_.Dir("home/me/granted");
  scratch_.File("home/me/private/key", "the-secret");
  SpawnRequest request =
      Request("cat " + place + "/key",
              scratch_.Input(R"({"enabled": true, "additional_read_only_paths": ["~/granted"]})"));
  std::filesystem::rename(place, place + ".old");
  scratch_.Link("home/me/granted", scratch_.Home("private"));
  LiveSession session(request);
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().stage, Stage::kConfinement);
  EXPECT_EQ(session.error().err, ESTALE);
  EXPECT_EQ(session.error().subject, place);
}

TEST_F(ConfinedSession, TheShellItselfMustBeGranted) {
  SpawnRequest request =
      Request("exit 0", scratch_.Input(R"({"enabled": true, "system_paths": {"executable": []}})"));
  LiveSession session(request);
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().stage, Stage::kExec);
  EXPECT_EQ(session.error().err, EACCES);
  EXPECT_EQ(session.error().subject, "/bin/sh");
}

TEST_F(ConfinedSession, StrictRefusesWhatTheHostLacks) {
  SpawnRequest request = Request("exit 0", scratch_.Input(kTerminal));
  request.feature_limits.landlock_abi = 0;
  {
    LiveSession session(request);
    ASSERT_FALSE(session.ok());
    EXPECT_EQ(session.error().stage, Stage::kConfinement);
    EXPECT_EQ(session.error().err, ENOTSUP);
    EXPECT_NE(session.error().subject.find("Landlock"), std::string::npos) << session.error().subject;
  }
  request.policy = scratch_.Resolve(R"({"enabled": true, "strict": false, "fail_if_unavailable": true})");
  EXPECT_FALSE(LiveSession(request).ok());
}

TEST_F(ConfinedSession, DegradedEnforcesTheRest) {
  const std::string secret = scratch_.File("home/me/secret", "the-secret");
  SpawnRequest request = Request("cat " + secret + "; grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status",
                                 scratch_.Input(R"({"enabled": true, "strict": false})"));
  request.feature_limits.landlock_abi = 0;
  const std::string output = Output(request);
  EXPECT_NE(output.find("the-secret"), std::string::npos) << "without Landlock there are no file rules";
  EXPECT_NE(output.find("NoNewPrivs:\t1"), std::string::npos) << output;
  EXPECT_NE(output.find("Seccomp:\t2"), std::string::npos) << output;
}

// Every ABI that this kernel can be taken for starts a session and keeps files closed.
TEST_F(ConfinedSession, WorksAsOnOlderKernels) {
  const std::string secret = scratch_.File("home/me/secret", "the-secret");
  const int newest = ProbeHost(SPTY_KEEPER_PATH).value().landlock_abi;
  for (int abi = 1; abi <= newest; ++abi) {
    SpawnRequest request = Request("cat " + secret + "; echo mine > own; cat own; rm own",
                                   scratch_.Input(R"({"enabled": true, "strict": false})"));
    request.feature_limits.landlock_abi = abi;
    const std::string output = Output(request);
    EXPECT_EQ(output.find("the-secret"), std::string::npos) << abi << ": " << output;
    EXPECT_NE(output.find("mine"), std::string::npos) << abi << ": " << output;
  }
}

TEST_F(ConfinedSession, RemovesItsTemporaryDirectory) {
  const std::string temp = scratch_.Dir("temp");
  PolicyInput input = scratch_.Input(R"({"enabled": true, "profile": "workspace"})");
  input.temp_dir = temp;
  SpawnRequest request =
      Request("echo x > \"$TMPDIR/file\" && cat \"$TMPDIR/file\"; mkdir -p $TMPDIR/a/b; chmod 0 $TMPDIR/a",
              std::move(input));
  request.temp_dir = temp;
  EXPECT_NE(Output(request).find("x\n"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(temp));
}

// A random tree with random grants and holes: for each file the kernel and the policy agree.
TEST_F(ConfinedSession, TheKernelDecidesAsThePolicyDoes) {
  size_t allowed = 0;
  size_t denied = 0;
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Scratch tree;
    std::mt19937 random(seed);
    std::vector<std::string> dirs = {"home/me"};
    std::vector<std::string> files;
    for (int i = 0; i < 14; ++i) {
      dirs.push_back(dirs[random() % dirs.size()] + "/d" + std::to_string(i));
      files.push_back(tree.File(dirs.back() + "/f", "content"));
    }
    std::string lists[3];
    const auto pick = [&] { return "\"" + tree.Path(dirs[1 + random() % (dirs.size() - 1)]) + "\""; };
    for (std::string& list : lists) {
      for (size_t n = random() % 3 + 1; n > 0; --n) list += (list.empty() ? "" : ",") + pick();
    }
    const std::string settings = R"({"enabled": true, "additional_read_only_paths": [)" + lists[0] +
                                 R"(], "additional_read_write_paths": [)" + lists[1] +
                                 R"(], "denied_read_paths": [)" + lists[2] + "]}";
    PolicyInput input = tree.Input(settings);
    input.env = {{"PATH", "/usr/bin:/bin"}};
    std::string script;
    for (const std::string& file : files) {
      script += "( : < " + file + " ) 2>/dev/null && echo R || echo -; ";
      script += "( : >> " + file + " ) 2>/dev/null && echo W || echo -; ";
    }
    SpawnRequest request = ShellRequest(script);
    request.policy = tree.Resolve(std::move(input));
    request.cwd = tree.project();
    std::istringstream output(Output(request));
    for (const std::string& file : files) {
      for (Rights rights : {Rights::kRead, Rights::kReadWrite}) {
        std::string line;
        std::getline(output, line);
        const bool may = request.policy->Decide(file, rights).allowed;
        EXPECT_EQ(line != "-", may) << file << " " << NameOf(rights) << " with " << settings;
        ++(may ? allowed : denied);
      }
    }
  }
  EXPECT_GT(allowed, 20U);
  EXPECT_GT(denied, 20U);
}

}  // namespace
}  // namespace spty
