// The settings examples of the documents this design came from: they parse, and they mean what they say.
#include <gtest/gtest.h>

#include "policy/scratch.h"

namespace spty {
namespace {

ResolvedSettings Resolve(const char* text, Platform platform = Platform::kLinux) {
  LayersInput input;
  input.user = LayerText{text, "", DocumentShape::kAuto};
  input.platform = platform;
  SettingsResult<ResolvedSettings> result = ResolveSettings(input);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : Describe(result.error()));
  return result.ok() ? std::move(result).value() : ResolvedSettings{};
}

TEST(ExamplesTest, BasicTerminal) {
  const Scratch scratch;
  scratch.File("home/me/.ssh/config");
  scratch.Dir("home/me/.cargo/bin");
  scratch.Dir("home/me/.cargo/registry");
  PolicyInput input = scratch.Input(R"({
    "terminal": {
      "sandbox": {
        "enabled": true,
        "apply_to": "both",
        "additional_executable_paths": ["~/.cargo/bin", "~/.rustup/toolchains", "~/.local/bin"],
        "additional_read_only_paths": ["~/.ssh"],
        "additional_read_write_paths": ["~/.cargo/registry", "~/.cargo/git", "~/.cache"],
        "allow_network": true,
        "allowed_env_vars": [
          "PATH", "HOME", "USER", "SHELL", "LANG", "TERM", "TERM_PROGRAM",
          "CARGO_HOME", "RUSTUP_HOME", "GOPATH", "EDITOR", "VISUAL",
          "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
          "SSH_AUTH_SOCK", "GPG_TTY", "COLORTERM"
        ]
      }
    }
  })");
  const auto policy = scratch.Resolve(std::move(input));
  EXPECT_TRUE(policy->confined());
  EXPECT_TRUE(policy->Decide(scratch.Home(".ssh/config"), Rights::kRead).allowed);
  EXPECT_FALSE(policy->Decide(scratch.Home(".ssh/config"), Rights::kReadWrite).allowed);
  EXPECT_TRUE(policy->Decide(scratch.Home(".cargo/bin/cargo"), Rights::kReadExecute).allowed);
  EXPECT_TRUE(policy->Decide(scratch.Home(".cargo/registry/x"), Rights::kReadWrite).allowed);
  EXPECT_EQ(FindSkipped(*policy, "~/.rustup/toolchains")->reason, SkipReason::kMissing);
}

constexpr char kPerPlatform[] = R"({
  "terminal": {"sandbox": {
    "enabled": true, "apply_to": "both",
    "additional_executable_paths": ["~/.cargo/bin", "~/.rustup/toolchains"],
    "additional_read_only_paths": ["~/.ssh"],
    "additional_read_write_paths": ["~/.cargo/registry", "~/.cargo/git"]
  }},
  "macos": {"terminal": {"sandbox": {"system_paths": {"executable": [
    "/bin", "/usr/bin", "/usr/sbin", "/sbin", "/usr/lib", "/usr/libexec",
    "/System/Library/dyld", "/System/Cryptexes",
    "/Library/Developer/CommandLineTools/usr/bin", "/Library/Developer/CommandLineTools/usr/lib"
  ]}}}},
  "linux": {"terminal": {"sandbox": {"system_paths": {"executable": [
    "/usr/bin", "/usr/lib", "/usr/lib64", "/lib", "/lib64", "/bin"
  ]}}}}
})";

TEST(ExamplesTest, PlatformBlocks) {
  const Settings linux_settings = Resolve(kPerPlatform).settings;
  EXPECT_EQ(linux_settings.executable.items.size(), 6u);
  EXPECT_EQ(linux_settings.read_only.items.size(), 4u);
  EXPECT_TRUE(linux_settings.enabled.value);
  const Settings macos = Resolve(kPerPlatform, Platform::kMacos).settings;
  EXPECT_EQ(macos.executable.items.size(), 10u);
  EXPECT_EQ(macos.read_only.items.size(), 9u);
  EXPECT_EQ(macos.executable.origin.layer, Layer::kUserPlatform);
}

TEST(ExamplesTest, AgentPermissions) {
  const ResolvedSettings resolved = Resolve(R"({
    "agent": {
      "sandbox_permissions": {
        "network_hosts": ["github.com", "*.npmjs.org"],
        "allow_git_access": true,
        "write_paths": ["/Users/you/.cache/my-tool"]
      }
    }
  })");
  const Settings tool = resolved.ForKind(SessionKind::kTool);
  EXPECT_EQ(tool.network_hosts.items.size(), 2u);
  EXPECT_EQ(tool.git_access.value, GitAccess::kFull);
  EXPECT_EQ(tool.additional_read_write.items[0].value, "/Users/you/.cache/my-tool");
}

TEST(ExamplesTest, CommandSandbox) {
  const Scratch scratch;
  scratch.Dir("home/me/.cache/zeph");
  scratch.Dir("home/me/project/.local");
  const auto policy = scratch.Resolve(R"({
    "enabled": true, "profile": "workspace",
    "allow_read": ["$HOME/.cache/zeph"], "allow_write": ["./.local"],
    "strict": true, "backend": "auto", "denied_domains": [], "fail_if_unavailable": false
  })");
  EXPECT_EQ(FindGrant(*policy, scratch.Home(".cache/zeph"))->rights, Rights::kRead);
  EXPECT_TRUE(policy->Decide(scratch.Project(".local/x"), Rights::kReadWrite).allowed);
  EXPECT_EQ(policy->network().mode, NetworkMode::kNone);
}

}  // namespace
}  // namespace spty
