#include "track/remove_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/fd.h"
#include "support/in_child.h"
#include "support/temp_dir.h"

namespace spty {
namespace {

namespace fs = std::filesystem;

TEST(RemoveTree, RemovesEverythingInIt) {
  TempDir dir;
  const std::string tree = dir.File("tree");
  fs::create_directories(tree + "/a/b/c");
  for (int i = 0; i < 300; ++i) dir.Write("tree/a/file" + std::to_string(i), "x", 0000);
  ASSERT_EQ(mkfifo((tree + "/fifo").c_str(), 0600), 0);
  EXPECT_EQ(RemoveTree(tree.c_str()), 0);
  EXPECT_FALSE(fs::exists(tree));
  EXPECT_EQ(RemoveTree(tree.c_str()), 0) << "nothing there is no error";
}

TEST(RemoveTree, FollowsNoLink) {
  TempDir dir;
  const std::string kept = dir.File("kept");
  fs::create_directory(kept);
  dir.Write("kept/file", "x", 0644);
  const std::string tree = dir.File("tree");
  fs::create_directory(tree);
  fs::create_directory_symlink(kept, tree + "/link");
  fs::create_symlink(kept + "/file", tree + "/file");
  EXPECT_EQ(RemoveTree(tree.c_str()), 0);
  EXPECT_TRUE(fs::exists(kept + "/file"));
  fs::create_directory_symlink(kept, tree);
  EXPECT_NE(RemoveTree(tree.c_str()), 0) << "a link in place of the directory itself";
  EXPECT_TRUE(fs::exists(kept + "/file"));
}

TEST(RemoveTree, OpensWhatItsOwnerLocked) {
  TempDir dir;
  const std::string tree = dir.File("tree");
  fs::create_directories(tree + "/locked/below");
  fs::permissions(tree + "/locked", fs::perms::none);
  fs::permissions(tree, fs::perms::none);
  EXPECT_EQ(RemoveTree(tree.c_str()), 0);
  EXPECT_FALSE(fs::exists(tree));
}

// A directory that may not be written cannot be moved either, which is how deep ones are reached.
TEST(RemoveTree, OpensWhatItsOwnerLockedHoweverDeepItIs) {
  TempDir dir;
  const std::string tree = dir.File("tree");
  std::string deepest = tree;
  for (int depth = 0; depth < 40; ++depth) deepest += "/d";
  fs::create_directories(deepest);
  for (std::string at = deepest; at != tree; at = at.substr(0, at.size() - 2))
    fs::permissions(at, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(RemoveTree(tree.c_str()), 0);
  EXPECT_FALSE(fs::exists(tree));
}

TEST(RemoveTree, TakesOtherNamesWhereItsOwnAreTaken) {
  TempDir dir;
  const std::string tree = dir.File("tree");
  fs::create_directory(tree);
  std::string deep = tree;
  for (int i = 0; i < 40; ++i) deep += "/d";
  fs::create_directories(deep + "/x");
  // More than one pass, as what was moved up comes last; and none of them may be lost.
  for (int i = 0; i < 50; ++i) fs::create_directories(tree + "/.moved-" + std::to_string(i) + "/full");
  dir.Write("tree/.moved-50", "x", 0644);
  EXPECT_EQ(RemoveTree(tree.c_str()), 0);
  EXPECT_FALSE(fs::exists(tree));
}

TEST(RemoveTree, NeedsFewDescriptorsHoweverDeepItGoes) {
  TempDir dir;
  const std::string tree = dir.File("tree");
  fs::create_directory(tree);
  Fd at(open(tree.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int depth = 0; depth < 3000; ++depth) {
    ASSERT_EQ(mkdirat(at.get(), "d", 0700), 0);
    at = Fd(openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at.valid());
  }
  at.Reset();
  const std::string complaint = InChild([&]() -> std::string {
    const rlimit few{100, 100};
    CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    CHILD_CHECK(RemoveTree(tree.c_str()) == 0);
    return "";
  });
  EXPECT_EQ(complaint, "");
  EXPECT_FALSE(fs::exists(tree));
}

}  // namespace
}  // namespace spty
