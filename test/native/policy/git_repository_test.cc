#include "policy/git_repository.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/fd.h"
#include "policy/scratch.h"

namespace spty {
namespace {

class GitRepositoryTest : public ::testing::Test {
 protected:
  // A Git directory as far as anybody looks.
  void MakeGitDir(const std::string& relative) {
    scratch_.Dir(relative + "/objects");
    scratch_.Dir(relative + "/refs");
    scratch_.Dir(relative + "/hooks");
    scratch_.File(relative + "/HEAD", "ref: refs/heads/main\n");
    scratch_.File(relative + "/config", "[core]\n\tbare = false\n");
  }
  // A linked worktree in the project, of a main repository elsewhere.
  void MakeLinkedWorktree() {
    MakeGitDir("home/me/main/.git");
    const std::string dir = "home/me/main/.git/worktrees/project";
    scratch_.File("home/me/project/.git", "gitdir: " + scratch_.Path(dir) + "\n");
    scratch_.File(dir + "/gitdir", scratch_.Project(".git") + "\n");
    scratch_.File(dir + "/commondir", "../..\n");
    scratch_.File(dir + "/HEAD", "ref: refs/heads/topic\n");
  }
  std::vector<GitRepository> Find() {
    auto found = FindRepositories({{scratch_.project(), {}}, scratch_.home(), {}});
    EXPECT_TRUE(found.ok());
    return found.ok() ? std::move(found).value() : std::vector<GitRepository>(1);
  }
  std::shared_ptr<const Policy> With(const char* git_access) {
    return scratch_.Resolve(std::string(R"({"enabled": true, "git_access": ")") + git_access + "\"}");
  }
  bool Allowed(const Policy& policy, Rights rights, const std::string& path) {
    return policy.Decide(path, rights).allowed;
  }

  Scratch scratch_;
};

TEST_F(GitRepositoryTest, NoRepository) {
  const auto found = Find();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, RepositoryKind::kAbsent);
  EXPECT_EQ(found[0].link, scratch_.Project(".git"));
  // A planted one would run its hooks for whoever comes next.
  const auto policy = With("read");
  EXPECT_FALSE(Allowed(*policy, Rights::kReadWrite, scratch_.Project(".git/hooks/pre-commit")));
  EXPECT_TRUE(Allowed(*policy, Rights::kReadWrite, scratch_.Project(".gitignore")));
}

TEST_F(GitRepositoryTest, PlainRepositoryByAccess) {
  MakeGitDir("home/me/project/.git");
  ASSERT_EQ(Find()[0].kind, RepositoryKind::kMain);
  const std::string object = scratch_.Project(".git/objects/aa");
  const std::string hook = scratch_.Project(".git/hooks/pre-commit");
  const std::string config = scratch_.Project(".git/config");
  const auto none = With("none");
  EXPECT_FALSE(Allowed(*none, Rights::kRead, object));
  const auto read = With("read");
  EXPECT_TRUE(Allowed(*read, Rights::kRead, hook));
  EXPECT_FALSE(Allowed(*read, Rights::kReadWrite, object));
  const auto commit = With("commit");
  EXPECT_TRUE(Allowed(*commit, Rights::kReadWrite, object));
  EXPECT_TRUE(Allowed(*commit, Rights::kReadWrite, scratch_.Project(".git/index.lock")));
  EXPECT_TRUE(Allowed(*commit, Rights::kRead, config));
  for (std::string_view name : GitCommandSources()) {
    EXPECT_FALSE(Allowed(*commit, Rights::kReadWrite, scratch_.Project(".git/" + std::string(name)))) << name;
  }
  EXPECT_FALSE(Allowed(*commit, Rights::kReadWrite, hook));
  const auto full = With("full");
  EXPECT_TRUE(Allowed(*full, Rights::kReadWrite, hook));
  EXPECT_EQ(FindHole(*full, scratch_.Project(".git")), nullptr);
}

TEST_F(GitRepositoryTest, LinkedWorktree) {
  MakeLinkedWorktree();
  const GitRepository repo = Find()[0];
  EXPECT_EQ(repo.kind, RepositoryKind::kLinkedWorktree);
  EXPECT_TRUE(repo.verified);
  EXPECT_EQ(repo.common_dir, scratch_.Home("main/.git"));
  EXPECT_EQ(repo.git_dir, scratch_.Home("main/.git/worktrees/project"));
  const std::string object = scratch_.Home("main/.git/objects/aa");
  EXPECT_TRUE(Allowed(*With("full"), Rights::kReadWrite, object));
  EXPECT_TRUE(Allowed(*With("read"), Rights::kRead, object));
  EXPECT_FALSE(Allowed(*With("read"), Rights::kReadWrite, object));
  EXPECT_FALSE(Allowed(*With("none"), Rights::kRead, object));
  const auto commit = With("commit");
  EXPECT_TRUE(Allowed(*commit, Rights::kReadWrite, object));
  EXPECT_TRUE(Allowed(*commit, Rights::kReadWrite, scratch_.Home("main/.git/worktrees/project/index")));
  EXPECT_FALSE(Allowed(*commit, Rights::kReadWrite, scratch_.Home("main/.git/worktrees/project/commondir")));
  EXPECT_FALSE(Allowed(*commit, Rights::kReadWrite, scratch_.Home("main/.git/worktrees/other/index")));
  EXPECT_FALSE(Allowed(*commit, Rights::kReadWrite, scratch_.Home("main/.git/hooks/x")));
  // The pointer file itself: another one would lead Git elsewhere.
  EXPECT_FALSE(Allowed(*commit, Rights::kReadWrite, scratch_.Project(".git")));
  // The main working tree is none of our business.
  EXPECT_FALSE(Allowed(*With("full"), Rights::kRead, scratch_.Home("main/file")));
}

TEST_F(GitRepositoryTest, AClaimThatIsNotReturnedOpensNothing) {
  // A file in the project says that somebody else's directory is its Git directory.
  scratch_.File("home/me/.ssh/id", "key");
  MakeGitDir("home/me/victim/.git");
  for (const std::string& target :
       {scratch_.Home(".ssh"), scratch_.Home("victim/.git"), scratch_.home(), std::string("/")}) {
    scratch_.File("home/me/project/.git", "gitdir: " + target + "\n");
    const auto policy = With("full");
    EXPECT_FALSE(policy->repositories()[0].verified) << target;
    EXPECT_EQ(FindGrant(*policy, target), nullptr);
    EXPECT_FALSE(Allowed(*policy, Rights::kRead, scratch_.Home("victim/.git/config")));
    ASSERT_NE(FindSkipped(*policy, target), nullptr);
    EXPECT_EQ(FindSkipped(*policy, target)->reason, SkipReason::kNotVerified);
  }
}

TEST_F(GitRepositoryTest, AForgedCommonDirectoryOpensNothing) {
  MakeLinkedWorktree();
  scratch_.File("home/me/secret/HEAD");
  scratch_.Dir("home/me/secret/objects");
  scratch_.Dir("home/me/secret/refs");
  scratch_.File("home/me/main/.git/worktrees/project/commondir", scratch_.Home("secret") + "\n");
  EXPECT_FALSE(Find()[0].verified);
  EXPECT_FALSE(Allowed(*With("full"), Rights::kRead, scratch_.Home("secret/x")));
}

// All that speaks for it lies in the project, where a session, or an archive, has put it.
TEST_F(GitRepositoryTest, AProjectIsNoWitnessForWhatLiesAboveIt) {
  scratch_.Dir("above/objects");
  scratch_.Dir("above/refs");
  scratch_.File("above/secret");
  const std::string project = scratch_.Dir("above/worktrees/name");
  scratch_.File("above/worktrees/name/.git", "gitdir: .\n");
  scratch_.File("above/worktrees/name/commondir", "../..\n");
  scratch_.File("above/worktrees/name/gitdir", project + "/.git\n");
  scratch_.File("above/worktrees/name/HEAD", "ref: refs/heads/main\n");
  PolicyInput input = scratch_.Input(R"({"enabled": true})");
  input.project_dir = input.cwd = project;
  const auto policy = scratch_.Resolve(std::move(input));
  EXPECT_FALSE(Allowed(*policy, Rights::kRead, scratch_.Path("above/secret")));
  EXPECT_TRUE(Allowed(*policy, Rights::kReadWrite, project + "/file"));
}

TEST_F(GitRepositoryTest, WhatOnlyHasTheNamesOfAGitDirectoryOpensNothing) {
  MakeLinkedWorktree();
  EXPECT_TRUE(Find()[0].verified);
  std::filesystem::remove(scratch_.Path("home/me/main/.git/refs"));
  scratch_.File("home/me/main/.git/refs");
  EXPECT_FALSE(Find()[0].verified);
}

TEST_F(GitRepositoryTest, Submodules) {
  MakeGitDir("home/me/project/.git");
  MakeGitDir("home/me/project/.git/modules/lib");
  scratch_.File("home/me/project/.git/modules/lib/config", "[core]\n\tworktree = ../../../lib\n");
  scratch_.File("home/me/project/lib/.git", "gitdir: ../.git/modules/lib\n");
  scratch_.File("home/me/project/.gitmodules",
                "[submodule \"lib\"]\n\tpath = lib\n\turl = x\n[submodule \"up\"]\n\tpath = ../victim\n");
  const auto found = Find();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].kind, RepositoryKind::kSubmodule);
  EXPECT_TRUE(found[1].verified);
  const auto commit = With("commit");
  EXPECT_FALSE(Allowed(*commit, Rights::kReadWrite, scratch_.Project("lib/.git")));
  EXPECT_FALSE(Allowed(*commit, Rights::kReadWrite, scratch_.Project(".git/modules/lib/config")));
  EXPECT_FALSE(Allowed(*commit, Rights::kReadWrite, scratch_.Project(".git/modules/lib/hooks/x")));
  EXPECT_TRUE(Allowed(*commit, Rights::kReadWrite, scratch_.Project(".git/modules/lib/objects/x")));
}

TEST_F(GitRepositoryTest, AProjectThatIsASubmodule) {
  MakeGitDir("home/me/super/.git");
  MakeGitDir("home/me/super/.git/modules/project");
  scratch_.File("home/me/super/.git/modules/project/config",
                "[core]\n\tworktree = " + scratch_.project() + "\n");
  scratch_.File("home/me/project/.git", "gitdir: ../super/.git/modules/project\n");
  EXPECT_TRUE(Find()[0].verified);
  EXPECT_TRUE(Allowed(*With("full"), Rights::kReadWrite, scratch_.Home("super/.git/modules/project/index")));
  EXPECT_FALSE(Allowed(*With("full"), Rights::kRead, scratch_.Home("super/.git/config")));
}

TEST_F(GitRepositoryTest, ALinkAsGitDirectoryIsProtectedAtBothEnds) {
  MakeGitDir("home/me/project/real");
  scratch_.Link("home/me/project/.git", "real");
  const auto policy = With("read");
  EXPECT_FALSE(Allowed(*policy, Rights::kReadWrite, scratch_.Project("real/config")));
  ASSERT_NE(FindHole(*policy, scratch_.Project(".git")), nullptr);
  EXPECT_TRUE(FindHole(*policy, scratch_.Project(".git"))->cuts_write);
}

TEST_F(GitRepositoryTest, TheRepositoryAroundTheProject) {
  MakeGitDir("home/me/mono/.git");
  scratch_.Dir("home/me/mono/packages/a");
  PolicyInput input = scratch_.Input(R"({"enabled": true})");
  input.project_dir = scratch_.Home("mono/packages/a");
  const auto full = scratch_.Resolve(std::move(input));
  EXPECT_TRUE(Allowed(*full, Rights::kReadWrite, scratch_.Home("mono/.git/index")));
  EXPECT_FALSE(Allowed(*full, Rights::kRead, scratch_.Home("mono/packages/b/x")));
  input = scratch_.Input(R"({"enabled": true, "profile": "agent"})");
  input.project_dir = scratch_.Home("mono/packages/a");
  EXPECT_FALSE(Allowed(*scratch_.Resolve(std::move(input)), Rights::kRead, scratch_.Home("mono/.git/index")));
}

TEST_F(GitRepositoryTest, TheRepositoryOfTheHomeIsNotTheProjects) {
  MakeGitDir("home/me/.git");
  EXPECT_EQ(Find().size(), 1u);
  EXPECT_FALSE(Allowed(*With("full"), Rights::kRead, scratch_.Home(".git/config")));
}

TEST_F(GitRepositoryTest, FurtherWorktreesOfTheCaller) {
  MakeGitDir("home/me/project/vendor/dep/.git");
  PolicyInput input = scratch_.Input(R"({"enabled": true, "git_access": "commit"})");
  input.repositories = {scratch_.Project("vendor/dep"), scratch_.Project("missing")};
  EXPECT_FALSE(Allowed(*scratch_.Resolve(std::move(input)), Rights::kReadWrite,
                       scratch_.Project("vendor/dep/.git/config")));
}

// An earlier session may have put the link there.
TEST_F(GitRepositoryTest, AFurtherWorktreeBehindALinkIsProtectedButNotGranted) {
  MakeGitDir("home/me/other/.git");
  scratch_.Link("home/me/project/nested", "../other");
  for (const char* access : {"full", "read"}) {
    PolicyInput input = scratch_.Input(R"({"enabled": true, "git_access": ")" + std::string(access) + "\"}");
    input.repositories = {scratch_.Project("nested")};
    const auto linked = scratch_.Resolve(std::move(input));
    EXPECT_FALSE(Allowed(*linked, Rights::kRead, scratch_.Home("other/.git/config"))) << access;
    ASSERT_NE(FindSkipped(*linked, scratch_.Home("other/.git")), nullptr) << access;
    input = scratch_.Input(R"({"enabled": true, "git_access": ")" + std::string(access) + "\"}");
    input.repositories = {scratch_.Home("other")};
    EXPECT_TRUE(
        Allowed(*scratch_.Resolve(std::move(input)), Rights::kRead, scratch_.Home("other/.git/config")))
        << access;
  }
}

TEST_F(GitRepositoryTest, AFurtherWorktreeThatIsMissingIsProtectedByName) {
  PolicyInput input = scratch_.Input(R"({"enabled": true, "git_access": "commit"})");
  input.repositories = {scratch_.Project("missing")};
  const auto policy = scratch_.Resolve(std::move(input));
  EXPECT_FALSE(Allowed(*policy, Rights::kReadWrite, scratch_.Project("missing/.git/config")));
  EXPECT_TRUE(Allowed(*policy, Rights::kReadWrite, scratch_.Project("missing/file")));
}

TEST_F(GitRepositoryTest, AFurtherWorktreeWithoutAProjectIsProtected) {
  MakeGitDir("home/me/dep/.git");
  PolicyInput input =
      scratch_.Input(R"({"enabled": true, "git_access": "read", "additional_read_write_paths": ["~/dep"]})");
  input.project_dir = "";
  input.repositories = {scratch_.Home("dep")};
  EXPECT_FALSE(
      Allowed(*scratch_.Resolve(std::move(input)), Rights::kReadWrite, scratch_.Home("dep/.git/config")));
}

TEST_F(GitRepositoryTest, AFurtherWorktreeThatCannotBeToldIsAnError) {
  scratch_.Link("home/me/loop", "loop");
  for (const std::string& given : {std::string("vendor/dep"), std::string("."), scratch_.Home("loop"),
                                   scratch_.Home(std::string("x\0y", 3)), std::string()}) {
    PolicyInput input = scratch_.Input(R"({"enabled": true, "git_access": "commit"})");
    input.repositories = {scratch_.project(), given};
    EXPECT_EQ(scratch_.ErrorOf(std::move(input)).at.pointer, "/repositories/1") << given;
  }
}

// A list of submodules that says so for itself, in the ways that Git reads.
TEST_F(GitRepositoryTest, SubmodulesHoweverTheListIsWritten) {
  MakeGitDir("home/me/project/.git");
  for (const char* name : {"one", "two words", "three", "four#4", "five"})
    MakeGitDir("home/me/project/" + std::string(name) + "/.git");
  scratch_.File("home/me/project/.gitmodules",
                "[submodule \"a]b\"] path = one ; a comment\n"
                "\tPATH = \"two words\" # another\n"
                "[submodule \"c\"]\n url = x\\\n path = nothing\n path = th\"re\"e\n"
                "path = \"four#4\"\npath = fi\\\nve\n# path = six\n");
  std::vector<std::string> places;
  for (const GitRepository& repo : Find()) places.push_back(repo.worktree);
  EXPECT_EQ(places, (std::vector<std::string>{scratch_.project(), scratch_.Project("one"),
                                              scratch_.Project("two words"), scratch_.Project("three"),
                                              scratch_.Project("four#4"), scratch_.Project("five")}));
}

// What cannot be protected is an error, unless nothing has to be.
TEST_F(GitRepositoryTest, MoreSubmodulesThanCanBeProtectedAreAnError) {
  MakeGitDir("home/me/project/.git");
  const auto expect_error = [&](const std::string& list) {
    for (const char* access : {"none", "read", "commit"}) {
      const SettingsError error = scratch_.ErrorOf(
          scratch_.Input(R"({"enabled": true, "git_access": ")" + std::string(access) + "\"}"));
      EXPECT_EQ(error.path, scratch_.Project(list)) << access;
      EXPECT_EQ(error.err, E2BIG) << access;
    }
    EXPECT_TRUE(With("full")->confined());
  };
  scratch_.File("home/me/project/.gitmodules", std::string(65536, '#') + "\n");
  expect_error(".gitmodules");
  std::string list;
  for (size_t i = 0; i < kMaxRepositories; ++i) {
    const std::string name = "m" + std::to_string(i);
    scratch_.Dir("home/me/project/" + name);
    list += "path = " + name + "\n";
    if (i + 2 != kMaxRepositories) continue;
    scratch_.File("home/me/project/.gitmodules", list);
    EXPECT_EQ(With("commit")->repositories().size(), kMaxRepositories) << "as many as are allowed";
  }
  scratch_.File("home/me/project/.gitmodules", list);
  expect_error(".gitmodules");
  std::string place;
  for (int level = 0; level <= kMaxSubmoduleDepth; ++level) {
    scratch_.File("home/me/project/" + place + ".gitmodules", "path = deep\n");
    if (level == kMaxSubmoduleDepth) break;
    place += "deep/";
    scratch_.Dir("home/me/project/" + place);
    EXPECT_EQ(With("commit")->repositories().size(), static_cast<size_t>(level) + 2);
  }
  scratch_.Dir("home/me/project/" + place + "deep");
  expect_error(place + ".gitmodules");
}

// Where Git would go, with links in between.
TEST_F(GitRepositoryTest, LinksToTheFilesThatNameAPlaceAreFollowed) {
  MakeLinkedWorktree();
  std::filesystem::rename(scratch_.Project(".git"), scratch_.Home("pointer"));
  scratch_.Link("home/me/project/.git", "../pointer");
  const std::string commondir = scratch_.Home("main/.git/worktrees/project/commondir");
  std::filesystem::rename(commondir, scratch_.Home("common"));
  std::filesystem::create_symlink("../../../../common", commondir);
  const GitRepository repo = Find()[0];
  EXPECT_EQ(repo.git_dir, scratch_.Home("main/.git/worktrees/project"));
  EXPECT_EQ(repo.common_dir, scratch_.Home("main/.git"));
  EXPECT_FALSE(repo.link_is_directory);
}

// A pointer is worth as much as what somebody may put at its end later.
TEST_F(GitRepositoryTest, WhatAPointerNamesIsProtectedEvenIfItIsNotThere) {
  scratch_.File("home/me/project/.git", "gitdir: later/git\n");
  for (const char* access : {"none", "read", "commit"}) {
    const auto policy = With(access);
    EXPECT_FALSE(Allowed(*policy, Rights::kReadWrite, scratch_.Project("later/git/hooks/post-checkout")))
        << access;
    EXPECT_TRUE(Allowed(*policy, Rights::kReadWrite, scratch_.Project("later/other"))) << access;
  }
  ASSERT_NE(FindSkipped(*With("full"), scratch_.Project("later/git")), nullptr);
  std::filesystem::remove(scratch_.Project(".git"));
  scratch_.Link("home/me/project/.git", "later/git");
  EXPECT_FALSE(Allowed(*With("read"), Rights::kReadWrite, scratch_.Project("later/git/config")));
  std::filesystem::remove(scratch_.Project(".git"));
  MakeGitDir("home/me/project/.git");
  scratch_.File("home/me/project/.git/commondir", "../shared\n");
  EXPECT_FALSE(Allowed(*With("commit"), Rights::kReadWrite, scratch_.Project("shared/hooks/post-checkout")));
}

TEST_F(GitRepositoryTest, WhatNamesAPlaceButCannotBeReadIsAnError) {
  const auto expect_error = [&](const std::string& path, int err) {
    for (const char* access : {"none", "read", "commit"}) {
      const SettingsError error = scratch_.ErrorOf(
          scratch_.Input(R"({"enabled": true, "git_access": ")" + std::string(access) + "\"}"));
      EXPECT_EQ(error.path, path) << access;
      EXPECT_EQ(error.err, err) << access;
    }
    EXPECT_TRUE(With("full")->confined());
  };
  MakeLinkedWorktree();
  const std::string commondir = "home/me/main/.git/worktrees/project/commondir";
  scratch_.File(commondir, std::string(65537, 'x'));
  expect_error(scratch_.Path(commondir), EFBIG);
  std::filesystem::remove(scratch_.Path(commondir));
  scratch_.Link(commondir, "commondir");
  expect_error(scratch_.Path(commondir), ELOOP);
  scratch_.File("home/me/project/.git", "gitdir: " + std::string(65537, 'x'));
  expect_error(scratch_.Project(".git"), EFBIG);
}

// A host that has hardly any descriptor left gets an error, or the whole protection; whenever they run out.
TEST_F(GitRepositoryTest, ShortageOfDescriptorsLosesNoProtection) {
  MakeLinkedWorktree();
  const PolicyInput input =
      scratch_.Input(R"({"enabled": true, "git_access": "read", "additional_read_write_paths": ["~/main"]})");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  int errors = 0;
  bool resolved = false;
  for (rlim_t spare = 0; spare < 400 && !resolved; ++spare) {
    const Fd lowest(open("/dev/null", O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(lowest.valid());
    const rlimit few{static_cast<rlim_t>(lowest.get()) + 1 + spare, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    const auto policy = ResolvePolicy(input);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    if (!policy.ok()) {
      EXPECT_EQ(policy.error().err, EMFILE) << Describe(policy.error());
      ++errors;
      continue;
    }
    resolved = true;
    EXPECT_FALSE(Allowed(*policy.value(), Rights::kReadWrite, scratch_.Home("main/.git/hooks/x"))) << spare;
    EXPECT_TRUE(Allowed(*policy.value(), Rights::kReadWrite, scratch_.Home("main/file"))) << spare;
  }
  EXPECT_TRUE(resolved);
  EXPECT_GT(errors, 5);
}

TEST_F(GitRepositoryTest, AFifoInPlaceOfAFileDoesNotBlock) {
  ASSERT_EQ(mkfifo(scratch_.Project(".git").c_str(), 0600), 0);
  ASSERT_EQ(mkfifo(scratch_.Project(".gitmodules").c_str(), 0600), 0);
  EXPECT_EQ(Find().size(), 1u);
}

}  // namespace
}  // namespace spty
