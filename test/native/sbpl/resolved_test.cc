// Policies that ResolvePolicy itself makes for macOS, of a tree that is really there; the profile says the
// same, and what Git would execute is closed.
#include <gtest/gtest.h>

#include "confine/seatbelt_profile.h"
#include "policy/git_repository.h"
#include "policy/path_text.h"
#include "policy/scratch.h"
#include "sbpl/examples.h"
#include "sbpl/profile.h"

namespace spty::sbpl {
namespace {

class ResolvedForMacosTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"objects", "refs/heads", "hooks"})
      scratch_.Dir(std::string("home/me/project/.git/") + name);
    scratch_.File("home/me/project/.git/config", "[core]\n");
    scratch_.File("home/me/project/.git/HEAD", "ref: refs/heads/main\n");
    scratch_.File("home/me/.ssh/id");
    scratch_.File("home/me/.zshrc");
    scratch_.Dir("home/me/.cache");
  }

  std::shared_ptr<const Policy> Resolve(const char* text) {
    PolicyInput input = scratch_.Input(R"({"enabled": true})");
    LayersInput layers;
    layers.user = LayerText{text, "", DocumentShape::kAuto};
    layers.platform = Platform::kMacos;
    auto resolved = ResolveSettings(layers);
    EXPECT_TRUE(resolved.ok()) << (resolved.ok() ? "" : Describe(resolved.error()));
    auto settings = std::make_shared<Settings>(resolved.value().settings);
    // The tree lies in it.
    std::erase_if(settings->read_write.items,
                  [](const Sourced<std::string>& path) { return path.value == "/private/tmp"; });
    if (settings->temp.value == TempMode::kPrivate) input.temp_dir = scratch_.Dir("own-temp");
    input.settings = std::move(settings);
    return scratch_.Resolve(std::move(input));
  }

  static Profile ProfileOf(const Policy& policy) {
    const auto text = SeatbeltProfile(policy, {"/tmp/.sandboxed-pty-mark", "/dev/ttys009", 0});
    EXPECT_TRUE(text.ok());
    std::string problem;
    auto profile = Profile::Parse(text.value(), &problem);
    EXPECT_TRUE(profile) << problem << text.value();
    return profile ? std::move(*profile) : Profile();
  }

  Scratch scratch_;
};

TEST_F(ResolvedForMacosTest, ProfilesOfTheExamplesSayWhatTheirPoliciesSay) {
  for (const Example& example : kExamples) {
    const auto policy = Resolve(example.settings);
    ASSERT_TRUE(policy->confined()) << example.name;
    const Profile profile = ProfileOf(*policy);
    size_t allowed = 0;
    for (const std::string& path :
         {scratch_.Project("x"), scratch_.Project(".git/HEAD"), scratch_.Project(".git/config"),
          scratch_.Project(".git/hooks/x"), scratch_.Project(".git/objects/x"), scratch_.Home(".ssh/id"),
          scratch_.Home(".zshrc"), scratch_.Home(".cache/x"), scratch_.Home("other"),
          scratch_.Path("own-temp/x"), std::string("/usr/bin/env"), std::string("/dev/null")}) {
      const bool read = policy->Decide(path, Rights::kRead).allowed;
      EXPECT_EQ(profile.AllowsFile("file-read-data", path), read) << example.name << " " << path;
      EXPECT_EQ(profile.AllowsFile("file-write-data", path), policy->Decide(path, Rights::kReadWrite).allowed)
          << example.name << " " << path;
      allowed += read ? 1 : 0;
    }
    EXPECT_GT(allowed, 0u) << example.name;
  }
}

TEST_F(ResolvedForMacosTest, WhatGitExecutesIsClosedToCommits) {
  const auto policy = Resolve(R"({"enabled": true, "profile": "agent", "git_access": "commit"})");
  const Profile profile = ProfileOf(*policy);
  for (const std::string_view name : GitCommandSources()) {
    const std::string place = JoinPath(scratch_.Project(".git"), name);
    for (const char* operation : {"file-write-data", "file-write-create", "file-write-unlink", "file-link"}) {
      EXPECT_FALSE(profile.AllowsFile(operation, place)) << operation << " " << place;
      EXPECT_FALSE(profile.AllowsFile(operation, place + "/x")) << operation << " " << place;
    }
    EXPECT_TRUE(profile.AllowsFile("file-read-data", place)) << place;
  }
  EXPECT_FALSE(profile.AllowsFile("file-write-unlink", scratch_.Project(".git")));
  for (const char* name : {"objects/12/34", "refs/heads/x", "index.lock"}) {
    EXPECT_TRUE(profile.AllowsFile("file-write-create", scratch_.Project(".git/") + name)) << name;
  }
  const Profile full = ProfileOf(*Resolve(R"({"enabled": true, "profile": "agent", "git_access": "full"})"));
  EXPECT_TRUE(full.AllowsFile("file-write-create", scratch_.Project(".git/hooks/x")));
}

}  // namespace
}  // namespace spty::sbpl
