// What is granted depends on what exists: on Linux, by its own defaults and by another system's.
#include <gtest/gtest.h>

#include "policy/resolve_policy.h"
#include "policy/scratch.h"

namespace spty {
namespace {

class ResolvePolicyOnLinux : public ::testing::Test {
 protected:
  Scratch scratch_;
};

TEST_F(ResolvePolicyOnLinux, DefaultGrants) {
  scratch_.File("home/me/.bashrc");
  scratch_.Dir("home/me/.config");
  const auto policy = scratch_.Resolve(R"({"enabled": true})");
  EXPECT_EQ(FindGrant(*policy, scratch_.project())->rights, Rights::kReadWrite);
  EXPECT_EQ(FindGrant(*policy, "/usr/bin")->rights, Rights::kReadExecute);
  EXPECT_EQ(FindGrant(*policy, "/etc")->rights, Rights::kRead);
  EXPECT_EQ(FindGrant(*policy, scratch_.Home(".bashrc"))->kind, GrantKind::kDotfile);
  EXPECT_EQ(FindGrant(*policy, scratch_.Home(".config"))->rights, Rights::kRead);
  EXPECT_EQ(FindGrant(*policy, "/dev/null")->kind, GrantKind::kDevice);
  EXPECT_EQ(FindGrant(*policy, "/dev"), nullptr);
  EXPECT_EQ(FindGrant(*policy, "/proc")->rights, Rights::kRead);
  // Read-only inside of read+execute: covered.
  EXPECT_EQ(FindGrant(*policy, "/usr/lib/locale"), nullptr);
  EXPECT_NE(FindSkipped(*policy, "~/.zshrc"), nullptr);
  for (const Grant& grant : policy->grants()) {
    EXPECT_TRUE(grant.pin.fd.valid()) << grant.path();
    EXPECT_TRUE(VerifyPin(grant.pin).ok()) << grant.path();
  }
}

// Services of the user's manager are read from there: docs/decisions/runtime-directory.md.
TEST_F(ResolvePolicyOnLinux, OnlyATerminalMayWriteToTheRuntimeDirectory) {
  for (const char* profile : {"terminal", "workspace", "agent", "read-only", "network-allow-all"}) {
    const auto policy = scratch_.Resolve(R"({"enabled": true, "profile": ")" + std::string(profile) + "\"}");
    const bool expected = profile == std::string("terminal") && std::filesystem::is_directory("/run/user");
    EXPECT_EQ(policy->Decide("/run/user/1000/systemd/user/x.service", Rights::kReadWrite).allowed, expected)
        << profile;
  }
  const auto without = scratch_.Resolve(
      R"({"enabled": true, "profile": "terminal", "system_paths": {"read_write": ["/dev", "/tmp", "/var/tmp"]}})");
  EXPECT_FALSE(without->Decide("/run/user/1000/systemd/user/x.service", Rights::kReadWrite).allowed);
}

TEST_F(ResolvePolicyOnLinux, MacosListsOnThisMachine) {
  PolicyInput input = scratch_.Input("{}");
  LayersInput layers;
  layers.user = LayerText{R"({"enabled": true})", "", DocumentShape::kAuto};
  layers.platform = Platform::kMacos;
  input.settings = std::make_shared<const Settings>(ResolveSettings(layers).value().settings);
  const auto policy = scratch_.Resolve(std::move(input));
  EXPECT_NE(FindSkipped(*policy, "/System/Library/dyld"), nullptr);
  EXPECT_NE(FindGrant(*policy, "/usr/bin"), nullptr);
  EXPECT_EQ(FindHole(*policy, scratch_.Home("Library/Keychains"))->kind, HoleKind::kCredential);
  EXPECT_EQ(FindGrant(*policy, "/proc"), nullptr);
}

}  // namespace
}  // namespace spty
