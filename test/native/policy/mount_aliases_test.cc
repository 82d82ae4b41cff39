#include "policy/mount_aliases.h"

#include <gtest/gtest.h>

namespace spty {
namespace {

using Places = std::vector<std::string>;

Places AliasesIn(const std::string& mountinfo, const std::string& path) {
  const std::vector<MountPoint> mounts = ParseMounts(mountinfo);
  return MountTable(mounts).AliasesOf(path);
}

TEST(MountAliasesTest, ReadsTheTable) {
  const auto mounts = ParseMounts(
      "21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
      "30 21 0:25 /@home /ho\\040me\\134x rw - btrfs /dev/sdb rw\n"
      "31 21 8:1 /gone//deleted /mnt rw - ext4 /dev/sda1 rw\n"
      "31 21 8:1 /gone /mnt//deleted rw - ext4 /dev/sda1 rw\n"
      "32 21 8:1\n"
      "x 21 8:1 /a /c\n"
      "\n"
      "33 21 8:1 /a /b");
  EXPECT_EQ(mounts, (std::vector<MountPoint>{{21, 1, "8:1", "/", "/", "ext4"},
                                             {30, 21, "0:25", "/@home", "/ho me\\x", "btrfs"},
                                             {31, 21, "8:1", "/gone//deleted", "/mnt", "ext4"},
                                             {33, 21, "8:1", "/a", "/b", ""}}));
}

TEST(MountAliasesTest, NoneWithoutASecondMount) {
  EXPECT_EQ(AliasesIn("1 0 8:1 / /\n2 1 0:5 / /proc\n3 1 8:2 / /home", "/home/me/.ssh"), Places());
  EXPECT_EQ(AliasesIn("", "/home/me/.ssh"), Places());
}

TEST(MountAliasesTest, AWholeFileSystemMountedAgain) {
  const std::string table = "1 0 8:1 / /\n2 1 8:2 / /home\n3 1 8:2 / /mnt/second";
  EXPECT_EQ(AliasesIn(table, "/home/me/.ssh"), Places{"/mnt/second/me/.ssh"});
  EXPECT_EQ(AliasesIn(table, "/mnt/second/me/.ssh"), Places{"/home/me/.ssh"});
}

TEST(MountAliasesTest, ABindMountOfSomethingAbove) {
  const std::string table = "1 0 8:1 / /\n2 1 8:1 /home /srv/homes\n3 1 8:1 /var /v";
  EXPECT_EQ(AliasesIn(table, "/home/me/.ssh"), Places{"/srv/homes/me/.ssh"});
  EXPECT_EQ(AliasesIn(table, "/srv/homes/me/.ssh"), Places{"/home/me/.ssh"});
  EXPECT_EQ(AliasesIn(table, "/homes/x"), Places());
}

TEST(MountAliasesTest, ABindMountOfSomethingInside) {
  EXPECT_EQ(AliasesIn("1 0 8:1 / /\n2 1 8:1 /home/me/.ssh/keys /keys", "/home/me/.ssh"), Places{"/keys"});
}

// Whoever replaces a file by renaming leaves the old one mounted.
TEST(MountAliasesTest, ABindMountOfSomethingInsideThatWasRemoved) {
  const std::string table = "1 0 8:1 / /\n2 1 8:1 /home/me/.ssh/id//deleted /key";
  EXPECT_EQ(AliasesIn(table, "/home/me/.ssh"), Places{"/key"});
  EXPECT_EQ(AliasesIn(table, "/home/me/.ssh/id"), Places{"/key"});
}

TEST(MountAliasesTest, AMountInsideHasOtherNames) {
  const std::string table =
      "1 0 8:1 / /\n2 1 8:1 /vault /home/me/.ssh/keys\n3 1 8:2 / /home/me/.ssh/x\n4 1 8:2 / /y";
  EXPECT_EQ(AliasesIn(table, "/home/me/.ssh"), (Places{"/vault", "/y"}));
}

TEST(MountAliasesTest, SubvolumesAndTheirWhole) {
  // A rule for /mnt/all/@ would be one for the root directory, and so for all that is mounted in it.
  EXPECT_EQ(AliasesIn("1 0 0:25 /@ /\n2 1 0:25 /@home /home\n3 1 0:25 / /mnt/all", "/home/me/.ssh"),
            (Places{"/mnt/all/@/home/me/.ssh", "/mnt/all/@home/me/.ssh"}));
  EXPECT_EQ(AliasesIn("1 0 0:25 /@ /\n2 1 0:25 /@home /home\n3 1 0:25 /@log /var/log", "/home/me/.ssh"),
            Places());
}

TEST(MountAliasesTest, ADirectoryAboveTheMountHasAnotherName) {
  const std::string table =
      "1 0 8:1 / /\n2 1 8:2 / /home/me\n3 1 8:1 / /second\n4 1 8:1 /home /homes\n5 1 8:1 /home/me /under\n6 "
      "1 8:1 /var /v";
  EXPECT_EQ(AliasesIn(table, "/home/me/.ssh"), (Places{"/second/home/me/.ssh", "/homes/me/.ssh"}));
}

TEST(MountAliasesTest, TheLastMountAtAPlaceCounts) {
  const std::string table = "1 0 8:1 / /\n2 1 8:2 / /home\n3 2 8:3 / /home\n4 1 8:3 / /b\n5 1 8:2 / /c";
  EXPECT_EQ(AliasesIn(table, "/home/me"), Places{"/b/me"});
  // Which is not always the one that is listed last: a mount can be propagated beneath another one.
  EXPECT_EQ(
      AliasesIn("1 0 8:1 / /\n3 2 8:3 / /home\n2 1 8:2 / /home\n4 1 8:3 / /b\n5 1 8:2 / /c", "/home/me"),
      Places{"/b/me"});
}

TEST(MountAliasesTest, AMountThatAnotherOneHidesDoesNotCount) {
  const std::string table =
      "1 0 8:1 / /\n2 1 0:40 / /m/a/b\n3 1 8:1 /srcB /m/a\n4 1 0:40 / /elsewhere\n5 3 0:41 / /m/a/c\n6 1 "
      "0:41 / /c";
  EXPECT_EQ(AliasesIn(table, "/m/a/b/x"), Places{"/srcB/b/x"});
  EXPECT_EQ(AliasesIn(table, "/elsewhere/x"), Places{"/m/a/b/x"});
  EXPECT_EQ(AliasesIn(table, "/m/a/c/x"), (Places{"/srcB/c/x", "/c/x"}));
}

TEST(MountAliasesTest, WhatIsMountedUponTheRootDirectoryIsNotEntered) {
  const std::string table = "1 0 8:1 / /\n2 1 8:2 / /\n3 1 8:1 /home /homes\n4 1 8:2 / /second";
  EXPECT_EQ(AliasesIn(table, "/home/me"), Places{"/homes/me"});
}

TEST(MountAliasesTest, TheFirstMountOfAllIsMountedInItself) {
  EXPECT_EQ(AliasesIn("1 1 0:2 / /\n2 1 8:2 / /home\n3 1 8:2 / /b", "/home/me"), Places{"/b/me"});
}

TEST(MountAliasesTest, AMountWhoseParentWasRemovedMeanwhileDoesNotMatter) {
  EXPECT_EQ(AliasesIn("7 6 0:9 / /m\n1 0 8:1 / /\n2 1 8:2 / /home\n3 1 8:2 / /b", "/home/me"),
            Places{"/b/me"});
}

TEST(MountAliasesTest, TheRootDirectoryNeedNotBeAMount) {
  EXPECT_EQ(AliasesIn("2 1 8:2 / /home\n3 2 8:3 / /home/me\n4 1 8:3 / /b", "/home/me/x"), Places{"/b/x"});
  EXPECT_EQ(AliasesIn("2 1 8:2 / /home\n3 1 8:2 / /b", "/etc/x"), Places());
}

}  // namespace
}  // namespace spty
