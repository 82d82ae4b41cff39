// Git metadata that another session exchanges while a policy is made.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdio.h>

#include <atomic>
#include <thread>

#include "policy/scratch.h"

namespace spty {
namespace {

class GitRaces : public ::testing::Test {
 protected:
  void MakeGitDir(const std::string& relative) const {
    scratch_.Dir(relative + "/objects");
    scratch_.Dir(relative + "/refs");
    scratch_.File(relative + "/HEAD", "ref: refs/heads/main\n");
    scratch_.File(relative + "/config", "[core]\n\tbare = false\n");
  }
  // Makes policies while two names are exchanged; how often something was granted that is none of the
  // project's.
  int CountGrants(const std::string& one, const std::string& other, const std::string& victim) const {
    std::atomic<bool> over = false;
    std::atomic<int> exchanges = 0;
    std::thread attacker([&] {
      while (!over)
        exchanges += renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0;
    });
    int granted = 0;
    for (int i = 0; i < kTries; ++i) {
      const auto policy = ResolvePolicy(scratch_.Input(R"({"enabled": true, "profile": "workspace"})"));
      // It may be an error, that something was exchanged meanwhile.
      granted += policy.ok() && policy.value()->Decide(victim, Rights::kRead).allowed;
    }
    over = true;
    attacker.join();
    EXPECT_GT(exchanges, 100) << "void: nothing was exchanged";
    return granted;
  }

  static constexpr int kTries = 300;
  Scratch scratch_;
};

TEST_F(GitRaces, ALinkInThePlaceOfTheGitDirectoryOpensNothing) {
  MakeGitDir("home/me/project/.git");
  scratch_.File("home/me/private/diary", "secret");
  scratch_.Link("home/me/project/link", scratch_.Home("private"));
  EXPECT_EQ(CountGrants(scratch_.Project(".git"), scratch_.Project("link"), scratch_.Home("private/diary")),
            0);
}

TEST_F(GitRaces, ALinkInThePlaceOfASubmoduleOpensNothing) {
  MakeGitDir("home/me/project/.git");
  MakeGitDir("home/me/project/sub/.git");
  MakeGitDir("home/me/other/.git");
  scratch_.File("home/me/project/.gitmodules", "[submodule \"sub\"]\n\tpath = sub\n");
  scratch_.Link("home/me/project/link", scratch_.Home("other"));
  EXPECT_EQ(
      CountGrants(scratch_.Project("sub"), scratch_.Project("link"), scratch_.Home("other/.git/config")), 0);
}

}  // namespace
}  // namespace spty
