#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

#include "support/temp_dir.h"
#include "track/cgroup.h"

namespace spty {
namespace {

// Plain directories stand in for the hierarchy: Find looks at nothing but names and rights.
class FindTest : public testing::Test {
 protected:
  std::string Cgroup(const std::string& name) {
    std::filesystem::create_directories(dir_.File(name));
    dir_.Write(name + "/cgroup.procs", "");
    return dir_.File(name);
  }
  // One line of mountinfo.
  static std::string Mount(const std::string& root, const std::string& point) {
    return "41 31 0:38 " + root + " " + point + " rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
  }
  static std::string Found(const std::string& mountinfo, const std::string& own) {
    const auto place = CgroupPlace::Find(mountinfo, own);
    return place.ok() ? place.value()->path() : ErrnoName(place.error().err);
  }
  std::string Escaped(std::string path) {
    for (size_t at = 0; (at = path.find(' ', at)) != std::string::npos;) path.replace(at, 1, "\\040");
    return path;
  }

  TempDir dir_;
};

TEST_F(FindTest, TakesOurOwnCgroupOfAUnifiedHierarchy) {
  const std::string top = Cgroup("fs");
  const std::string own = Cgroup("fs/user.slice/app");
  EXPECT_EQ(Found(Mount("/", top), "0::/user.slice/app\n"), own);
  EXPECT_TRUE(std::filesystem::is_empty(own) == false);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(own), {}), 1) << "the trial leaf is gone again";
}

TEST_F(FindTest, PassesOverTheOldHierarchiesOfAHybridOne) {
  const std::string unified = Cgroup("unified");
  const std::string mounts =
      "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n" + Mount("/", unified);
  const std::string own = "9:name=systemd:/a\n4:memory:/b/c\n1:cpu:/\n0::/\n";
  EXPECT_EQ(Found(mounts, own), unified);
}

TEST_F(FindTest, GoesUpToTheNearestThatCanBeUsed) {
  const std::string slice = Cgroup("fs/slice");
  // Its cgroup.procs is not there: as good as not writable, also for root.
  std::filesystem::create_directories(dir_.File("fs/slice/one/two"));
  EXPECT_EQ(Found(Mount("/", dir_.File("fs")), "0::/slice/one/two\n"), slice);
}

TEST_F(FindTest, LooksAtEveryMount) {
  const std::string second = Cgroup("second");
  EXPECT_EQ(Found(Mount("/", dir_.File("nowhere")) + Mount("/", second), "0::/\n"), second);
}

TEST_F(FindTest, SeesTheRootOfAContainer) {
  const std::string top = Cgroup("fs");
  const std::string below = Cgroup("fs/inner");
  EXPECT_EQ(Found(Mount("/docker/1234", top), "0::/docker/1234/inner\n"), below);
  EXPECT_EQ(Found(Mount("/docker/1234", top), "0::/docker/1234\n"), top);
  // In a cgroup namespace both are "/".
  EXPECT_EQ(Found(Mount("/", top), "0::/\n"), top);
}

TEST_F(FindTest, DoesNotCutASiblingWhoseNameBeginsAlike) {
  const std::string top = Cgroup("fs");
  Cgroup("fs4");
  EXPECT_EQ(Found(Mount("/docker/123", top), "0::/docker/1234\n"), top);
}

TEST_F(FindTest, ReadsEscapes) {
  const std::string top = Cgroup("with space");
  EXPECT_EQ(Found(Mount("/", Escaped(top)), "0::/\n"), top);
}

TEST_F(FindTest, SaysWhyThereIsNone) {
  const std::string top = Cgroup("fs");
  EXPECT_EQ(Found("", "0::/\n"), "ENOENT");
  EXPECT_EQ(Found("32 31 0:29 / " + top + " rw - cgroup cgroup rw,cpu\n", "0::/\n"), "ENOENT");
  EXPECT_EQ(Found(Mount("/", top), "9:name=systemd:/\n1:cpu:/\n"), "ENOENT");
  EXPECT_EQ(Found(Mount("/", top), ""), "ENOENT");
  EXPECT_EQ(Found(Mount("/", dir_.File("nowhere")), "0::/\n"), "ENOENT");
  EXPECT_EQ(Found("nonsense\n\n - cgroup2 \n", "0::/\n"), "ENOENT");
}

}  // namespace
}  // namespace spty
