#include "policy/resolve_policy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "policy/scratch.h"
#include "settings/random_settings.h"

namespace spty {
namespace {

class ResolvePolicyTest : public ::testing::Test {
 protected:
  Scratch scratch_;
};

bool Needs(const Policy& policy, Protection protection) {
  return std::find(policy.required().begin(), policy.required().end(), protection) != policy.required().end();
}

TEST_F(ResolvePolicyTest, KindAndApplyToDecideAboutConfinement) {
  const struct {
    const char* settings;
    SessionKind kind;
    bool confined;
    const char* by;
  } cases[] = {
      {R"({})", SessionKind::kTerminal, false, "/enabled"},
      {R"({"enabled": true})", SessionKind::kTerminal, true, "/enabled"},
      {R"({"enabled": true, "apply_to": "tool"})", SessionKind::kTerminal, false, "/apply_to"},
      {R"({"enabled": true, "apply_to": "tool"})", SessionKind::kTool, true, "/enabled"},
      {R"({"enabled": true, "apply_to": "terminal"})", SessionKind::kTool, false, "/apply_to"},
      {R"({"enabled": true, "apply_to": "neither"})", SessionKind::kTool, false, "/apply_to"},
      {R"({"enabled": true, "profile": "off"})", SessionKind::kTool, false, "/profile"},
      {R"({"enabled": true, "backend": "noop"})", SessionKind::kTool, false, "/backend"},
  };
  for (const auto& c : cases) {
    PolicyInput input = scratch_.Input(c.settings);
    input.kind = c.kind;
    const auto policy = scratch_.Resolve(std::move(input));
    EXPECT_EQ(policy->confined(), c.confined) << c.settings;
    EXPECT_EQ(policy->confined_by().pointer, c.by) << c.settings;
    if (!c.confined) {
      EXPECT_TRUE(policy->grants().empty());
      EXPECT_TRUE(policy->Decide("/etc/shadow", Rights::kReadWrite).allowed);
    }
  }
}

TEST_F(ResolvePolicyTest, UnsandboxedNeedsTheApproval) {
  PolicyInput input = scratch_.Input(R"({"enabled": true})");
  input.unsandboxed = true;
  const SettingsError error = scratch_.ErrorOf(std::move(input));
  EXPECT_EQ(error.code, kErrPolicy);
  EXPECT_NE(error.suggestion.find("allow_unsandboxed"), std::string::npos);
  input = scratch_.Input(R"({"enabled": true, "allow_unsandboxed": true})");
  input.unsandboxed = true;
  EXPECT_FALSE(scratch_.Resolve(std::move(input))->confined());
}

TEST_F(ResolvePolicyTest, NoopIsRefusedIfASandboxIsDemanded) {
  const auto error = scratch_.ErrorOf(
      scratch_.Input(R"({"enabled": true, "backend": "noop", "fail_if_unavailable": true})"));
  EXPECT_EQ(error.at.pointer, "/backend");
}

TEST_F(ResolvePolicyTest, DevInAnExplicitSystemListIsTheDeviceSetToo) {
  const auto policy = scratch_.Resolve(
      R"({"enabled": true, "system_paths": {"read_write": ["/dev/"]}, "nested_pty": "off"})");
  EXPECT_EQ(FindGrant(*policy, "/dev"), nullptr);
  EXPECT_TRUE(policy->Decide("/dev/null", Rights::kReadWrite).allowed);
  EXPECT_FALSE(policy->Decide("/dev/pts/0", Rights::kRead).allowed);
  EXPECT_FALSE(policy->Decide("/dev/kmsg", Rights::kRead).allowed);
  const auto real = scratch_.Resolve(R"({"enabled": true, "additional_read_write_paths": ["/dev"]})");
  EXPECT_TRUE(real->Decide("/dev/kmsg", Rights::kRead).allowed);
}

TEST_F(ResolvePolicyTest, ReadAllKeepsCredentialsAndDevicesOut) {
  scratch_.File("home/me/.ssh/id_ed25519");
  const auto policy = scratch_.Resolve(R"({"enabled": true, "profile": "agent"})");
  EXPECT_TRUE(policy->Decide("/opt/tool", Rights::kReadExecute).allowed);
  EXPECT_TRUE(policy->Decide(scratch_.Home("notes"), Rights::kRead).allowed);
  EXPECT_FALSE(policy->Decide(scratch_.Home(".ssh/id_ed25519"), Rights::kRead).allowed);
  EXPECT_FALSE(policy->Decide(scratch_.Home(".aws/credentials"), Rights::kRead).allowed);
  EXPECT_FALSE(policy->Decide("/dev/pts/0", Rights::kRead).allowed);
  EXPECT_TRUE(policy->Decide("/dev/null", Rights::kReadWrite).allowed);
  EXPECT_FALSE(policy->Decide("/opt/tool", Rights::kReadWrite).allowed);
  EXPECT_TRUE(policy->Decide(scratch_.Project("x"), Rights::kReadWrite).allowed);
  EXPECT_TRUE(Needs(*policy, Protection::kReadHoles));
  EXPECT_TRUE(Needs(*policy, Protection::kWriteHoles));
  EXPECT_TRUE(Needs(*policy, Protection::kPrivateTemp));
  EXPECT_TRUE(Needs(*policy, Protection::kNetwork));
}

TEST_F(ResolvePolicyTest, TheDefaultTerminalNeedsNoNamespace) {
  const auto policy = scratch_.Resolve(R"({"enabled": true})");
  for (Protection protection :
       {Protection::kWriteHoles, Protection::kPrivateTemp, Protection::kPrivatePty, Protection::kNetwork}) {
    EXPECT_FALSE(Needs(*policy, protection)) << NameOf(protection);
  }
}

TEST_F(ResolvePolicyTest, CredentialsAreCutOutOfConfig) {
  scratch_.File("home/me/.config/gh/hosts.yml");
  scratch_.File("home/me/.config/app/conf");
  const auto policy = scratch_.Resolve(R"({"enabled": true})");
  EXPECT_TRUE(policy->Decide(scratch_.Home(".config/app/conf"), Rights::kRead).allowed);
  EXPECT_FALSE(policy->Decide(scratch_.Home(".config/gh/hosts.yml"), Rights::kRead).allowed);
  EXPECT_TRUE(FindHole(*policy, scratch_.Home(".config/gh"))->cuts_read);
  EXPECT_FALSE(FindHole(*policy, scratch_.Home(".ssh"))->cuts_read);
  EXPECT_TRUE(Needs(*policy, Protection::kReadHoles));
}

TEST_F(ResolvePolicyTest, ALinkIntoAHoleOpensNothing) {
  scratch_.File("home/me/.ssh/id");
  scratch_.Link("home/me/project/cache", scratch_.Home(".ssh"));
  scratch_.Link("home/me/.gitconfig", ".ssh/id");
  const auto policy = scratch_.Resolve(R"({"enabled": true, "additional_read_write_paths": ["./cache"]})");
  EXPECT_FALSE(policy->Decide(scratch_.Home(".ssh/id"), Rights::kRead).allowed);
  EXPECT_EQ(FindSkipped(*policy, "./cache")->reason, SkipReason::kWritableLink);
  scratch_.Link("home/me/cache", scratch_.Home(".ssh"));
  const auto own = scratch_.Resolve(R"({"enabled": true, "additional_read_write_paths": ["~/cache"]})");
  EXPECT_FALSE(own->Decide(scratch_.Home(".ssh/id"), Rights::kRead).allowed);
  EXPECT_EQ(FindSkipped(*own, "~/cache")->reason, SkipReason::kInsideHole);
  const auto spelled = scratch_.Resolve(R"({"enabled": true, "additional_read_only_paths": ["~/.ssh"]})");
  EXPECT_TRUE(spelled->Decide(scratch_.Home(".ssh/id"), Rights::kRead).allowed);
  EXPECT_FALSE(spelled->Decide(scratch_.Home(".ssh/id"), Rights::kReadWrite).allowed);
}

TEST_F(ResolvePolicyTest, ACredentialDirectoryThatIsALinkIsProtectedAtItsTarget) {
  scratch_.File("data/keys/id");
  scratch_.Link("home/me/.ssh", scratch_.Path("data/keys"));
  const std::string settings =
      R"({"enabled": true, "additional_read_only_paths": [")" + scratch_.Path("data") + "\"";
  EXPECT_FALSE(
      scratch_.Resolve(settings + "]}")->Decide(scratch_.Path("data/keys/id"), Rights::kRead).allowed);
  EXPECT_TRUE(scratch_.Resolve(settings + R"(, "~/.ssh"]})")
                  ->Decide(scratch_.Path("data/keys/id"), Rights::kRead)
                  .allowed);
}

TEST_F(ResolvePolicyTest, AnUntrustedProjectsDenialOutranksTheUsersGrant) {
  scratch_.File("home/me/project/secrets/key");
  const auto policy =
      scratch_.Resolve(scratch_.Input(R"({"enabled": true, "additional_read_only_paths": ["./secrets"]})",
                                      R"({"denied_read_paths": ["secrets"]})"));
  EXPECT_FALSE(policy->Decide(scratch_.Project("secrets/key"), Rights::kRead).allowed);
  EXPECT_TRUE(policy->Decide(scratch_.Project("x"), Rights::kRead).allowed);
}

TEST_F(ResolvePolicyTest, WideProjectsAreRefusedUnlessAllowed) {
  for (const std::string& wide : {std::string("/"), scratch_.home(), scratch_.Path("home")}) {
    PolicyInput input = scratch_.Input(R"({"enabled": true})");
    input.project_dir = wide;
    EXPECT_NE(scratch_.ErrorOf(std::move(input)).suggestion.find("allow_wide_project"), std::string::npos)
        << wide;
    input = scratch_.Input(R"({"enabled": true, "allow_wide_project": true})");
    input.project_dir = wide;
    const auto policy = scratch_.Resolve(std::move(input));
    EXPECT_TRUE(policy->Decide(scratch_.Home("x"), Rights::kReadWrite).allowed);
    EXPECT_FALSE(policy->Decide(scratch_.Home(".ssh/id"), Rights::kRead).allowed)
        << "holes are cut out of it";
  }
  scratch_.Link("home/me/project/up", scratch_.home());
  PolicyInput input = scratch_.Input(R"({"enabled": true})");
  input.project_dir = scratch_.Project("up");
  EXPECT_EQ(scratch_.ErrorOf(std::move(input)).at.pointer, "/projectDir");
  scratch_.Dir("home/me/.ssh/project");
  input = scratch_.Input(R"({"enabled": true})");
  input.project_dir = scratch_.Home(".ssh/project");
  EXPECT_EQ(scratch_.ErrorOf(std::move(input)).at.pointer, "/projectDir");
}

TEST_F(ResolvePolicyTest, AProjectThatIsALinkIsItsTarget) {
  scratch_.Dir("data/project");
  scratch_.Link("home/me/here", scratch_.Path("data/project"));
  PolicyInput input = scratch_.Input(R"({"enabled": true, "additional_read_only_paths": ["../other"]})");
  input.project_dir = scratch_.Home("here");
  const auto policy = scratch_.Resolve(std::move(input));
  EXPECT_EQ(policy->project(), scratch_.Path("data/project"));
  EXPECT_EQ(FindSkipped(*policy, "../other")->path, scratch_.Path("data/other"));
}

TEST_F(ResolvePolicyTest, FailsClosedWhereAPathCannotBeTold) {
  scratch_.Link("home/me/loop", "loop");
  const SettingsError grant =
      scratch_.ErrorOf(scratch_.Input(R"({"enabled": true, "additional_read_only_paths": ["~/loop"]})"));
  EXPECT_EQ(grant.at.pointer, "/additional_read_only_paths/0");
  EXPECT_EQ(grant.err, ELOOP);
  const SettingsError hole =
      scratch_.ErrorOf(scratch_.Input(R"({"enabled": true, "denied_read_paths": ["~/loop/x"]})"));
  EXPECT_EQ(hole.at.pointer, "/denied_read_paths/0");
  EXPECT_EQ(
      scratch_.ErrorOf(scratch_.Input(R"({"enabled": true, "denied_read_paths": ["$NOPE/x"]})")).at.pointer,
      "/denied_read_paths/0");
  EXPECT_EQ(
      scratch_.ErrorOf(scratch_.Input(R"({"enabled": true, "additional_read_only_paths": ["${X"]})")).code,
      kErrPolicy);
}

TEST_F(ResolvePolicyTest, SkipsAndListsWhatIsMissing) {
  const auto policy = scratch_.Resolve(
      R"({"enabled": true, "additional_read_only_paths": ["~/nope", "$NOPE/x"], "unix_sockets": ["~/s"]})");
  EXPECT_EQ(FindSkipped(*policy, "~/nope")->reason, SkipReason::kMissing);
  EXPECT_EQ(FindSkipped(*policy, "~/nope")->path, scratch_.Home("nope"));
  EXPECT_EQ(FindSkipped(*policy, "$NOPE/x")->reason, SkipReason::kUnsetVariable);
  EXPECT_EQ(FindSkipped(*policy, "~/s")->reason, SkipReason::kMissing);
  EXPECT_EQ(policy->FindSocketRule(scratch_.Home("s"))->origin.pointer, "/unix_sockets/0");
}

TEST_F(ResolvePolicyTest, BadArguments) {
  PolicyInput input = scratch_.Input(R"({"enabled": true})");
  input.project_dir = scratch_.Path("none");
  EXPECT_EQ(scratch_.ErrorOf(std::move(input)).err, ENOENT);
  input = scratch_.Input(R"({"enabled": true})");
  input.project_dir = scratch_.File("file");
  EXPECT_EQ(scratch_.ErrorOf(std::move(input)).err, ENOTDIR);
  input = scratch_.Input(R"({"enabled": true})");
  input.project_dir = "relative";
  EXPECT_EQ(scratch_.ErrorOf(std::move(input)).at.pointer, "/projectDir");
  input = scratch_.Input(R"({"enabled": true})");
  input.home.clear();
  EXPECT_EQ(scratch_.ErrorOf(std::move(input)).at.pointer, "/home");
  input = scratch_.Input(R"({"enabled": true, "additional_read_only_paths": ["./x"]})");
  input.project_dir.clear();
  EXPECT_EQ(scratch_.ErrorOf(std::move(input)).at.pointer, "/additional_read_only_paths/0");
}

TEST_F(ResolvePolicyTest, RootsSecretsForRootOnly) {
  PolicyInput input = scratch_.Input(R"({"enabled": true})");
  input.is_root = true;
  EXPECT_FALSE(scratch_.Resolve(std::move(input))->Decide("/etc/shadow", Rights::kRead).allowed);
  EXPECT_EQ(FindHole(*scratch_.Resolve(R"({"enabled": true})"), "/etc/shadow"), nullptr);
}

TEST_F(ResolvePolicyTest, NetworkModes) {
  const auto mode = [&](const char* settings) { return scratch_.Resolve(settings)->network().mode; };
  EXPECT_EQ(mode(R"({"enabled": true})"), NetworkMode::kAll);
  EXPECT_EQ(mode(R"({"enabled": true, "allow_network": false})"), NetworkMode::kNone);
  EXPECT_EQ(mode(R"({"enabled": true, "denied_domains": ["a.b"]})"), NetworkMode::kFiltered);
  const auto hosts =
      scratch_.Resolve(R"({"enabled": true, "network_hosts": ["*.a.b"], "denied_domains": ["x.a.b"]})");
  EXPECT_TRUE(hosts->network().Allows("y.a.b", 443));
  EXPECT_FALSE(hosts->network().Allows("x.a.b", 443));
  EXPECT_FALSE(hosts->network().Allows("1.2.3.4", 443));
}

TEST_F(ResolvePolicyTest, TempDirectoryAndEnvironment) {
  scratch_.Dir("temp");
  PolicyInput input = scratch_.Input(R"({"enabled": true, "profile": "workspace"})");
  input.env = {{"PATH", "/bin"}, {"SECRET", "x"}, {"TMPDIR", "/old"}};
  input.extra_env = {{"EDITOR_TERM", "1"}};
  input.temp_dir = scratch_.Path("temp");
  const auto policy = scratch_.Resolve(std::move(input));
  EXPECT_EQ(FindGrant(*policy, scratch_.Path("temp"))->kind, GrantKind::kTemp);
  EXPECT_EQ(*FindEnv(policy->environment(), "TMPDIR"), scratch_.Path("temp"));
  EXPECT_EQ(FindEnv(policy->environment(), "SECRET"), nullptr);
  EXPECT_EQ(*FindEnv(policy->environment(), "PWD"), scratch_.project());
  EXPECT_EQ(*FindEnv(policy->environment(), "EDITOR_TERM"), "1");
  // An inherited TMPDIR passes only where it may be written.
  PolicyInput shared = scratch_.Input(R"({"enabled": true, "system_paths": {"read_write": []}})");
  shared.env = {{"TMPDIR", scratch_.Path("temp")}};
  EXPECT_EQ(FindEnv(scratch_.Resolve(std::move(shared))->environment(), "TMPDIR"), nullptr);
}

TEST_F(ResolvePolicyTest, WindowsSaysWhatToDo) {
  PolicyInput input = scratch_.Input(R"({"enabled": true})");
  Scratch::Change(input, [](Settings& settings) { settings.platform = Platform::kWindows; });
  EXPECT_NE(scratch_.ErrorOf(std::move(input)).suggestion.find("WSL"), std::string::npos);
}

TEST_F(ResolvePolicyTest, AnUntrustedProjectNeverWidensThePolicy) {
  const uint64_t seed = TestSeed();
  std::printf("seed: SPTY_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  RandomSettings random(seed);
  scratch_.File("home/me/.ssh/id");
  scratch_.File("home/me/.config/gh/x");
  scratch_.Dir("home/me/project/sub");
  scratch_.Link("home/me/project/link", scratch_.Home(".ssh"));
  const std::vector<std::string> settings_paths = {"~/.ssh", "~/.config", "./sub", "./link",
                                                   "/",      "/etc",      "/dev",  "~/.ssh/id"};
  const std::vector<std::string> probes = {scratch_.Home(".ssh/id"),
                                           scratch_.Home(".config/gh/x"),
                                           scratch_.Home("x"),
                                           scratch_.Project("sub/x"),
                                           scratch_.Project(".git/config"),
                                           "/etc/passwd",
                                           "/dev/kmsg",
                                           "/dev/null",
                                           "/usr/bin/env",
                                           "/tmp/x",
                                           "/opt/x"};
  for (int i = 0; i < 500 && !HasFailure(); ++i) {
    const std::string user = random.Document(settings_paths);
    const std::string project = random.Document(settings_paths);
    SCOPED_TRACE("pair " + std::to_string(i) + "\nuser    " + user + "\nproject " + project);
    const auto before = ResolvePolicy(scratch_.Input(user));
    const auto after = ResolvePolicy(scratch_.Input(user, project));
    if (!after.ok()) continue;  // refused altogether
    ASSERT_TRUE(before.ok());
    for (const std::string& path : probes) {
      for (Rights rights : {Rights::kRead, Rights::kReadExecute, Rights::kReadWrite}) {
        EXPECT_TRUE(!after.value()->Decide(path, rights).allowed ||
                    before.value()->Decide(path, rights).allowed)
            << path << " " << NameOf(rights);
      }
    }
  }
}

TEST_F(ResolvePolicyTest, NoSettingsAreAnErrorAndNotTheDefaults) {
  PolicyInput input = scratch_.Input(R"({"enabled": true})");
  input.settings = nullptr;
  EXPECT_EQ(scratch_.ErrorOf(std::move(input)).at.pointer, "/settings");
}

}  // namespace
}  // namespace spty
