#include "policy/mount_aliases.h"

#include <gtest/gtest.h>

namespace spty {
namespace {

using Places = std::vector<std::string>;

TEST(MountAliasesTest, ReadsTheTable) {
  const auto mounts = ParseMounts(
      "21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
      "30 21 0:25 /@home /ho\\040me\\134x rw - btrfs /dev/sdb rw\n"
      "31 21 8:1 /gone//deleted /mnt rw - ext4 /dev/sda1 rw\n"
      "32 21 8:1\n"
      "\n"
      "33 21 8:1 /a /b");
  EXPECT_EQ(mounts, (std::vector<MountPoint>{{"8:1", "/", "/", "ext4"},
                                             {"0:25", "/@home", "/ho me\\x", "btrfs"},
                                             {"8:1", "/a", "/b", ""}}));
}

TEST(MountAliasesTest, NoneWithoutASecondMount) {
  const std::vector<MountPoint> mounts = {{"8:1", "/", "/"}, {"0:5", "/", "/proc"}, {"8:2", "/", "/home"}};
  EXPECT_EQ(MountTable(mounts).AliasesOf("/home/me/.ssh"), Places());
  const std::vector<MountPoint> none;
  EXPECT_EQ(MountTable(none).AliasesOf("/home/me/.ssh"), Places());
}

TEST(MountAliasesTest, AWholeFileSystemMountedAgain) {
  const std::vector<MountPoint> mounts = {
      {"8:1", "/", "/"}, {"8:2", "/", "/home"}, {"8:2", "/", "/mnt/second"}};
  EXPECT_EQ(MountTable(mounts).AliasesOf("/home/me/.ssh"), Places{"/mnt/second/me/.ssh"});
  EXPECT_EQ(MountTable(mounts).AliasesOf("/mnt/second/me/.ssh"), Places{"/home/me/.ssh"});
}

TEST(MountAliasesTest, ABindMountOfSomethingAbove) {
  const std::vector<MountPoint> mounts = {
      {"8:1", "/", "/"}, {"8:1", "/home", "/srv/homes"}, {"8:1", "/var", "/v"}};
  EXPECT_EQ(MountTable(mounts).AliasesOf("/home/me/.ssh"), Places{"/srv/homes/me/.ssh"});
  EXPECT_EQ(MountTable(mounts).AliasesOf("/srv/homes/me/.ssh"), Places{"/home/me/.ssh"});
  EXPECT_EQ(MountTable(mounts).AliasesOf("/homes/x"), Places());
}

TEST(MountAliasesTest, ABindMountOfSomethingInside) {
  const std::vector<MountPoint> mounts = {{"8:1", "/", "/"}, {"8:1", "/home/me/.ssh/keys", "/keys"}};
  EXPECT_EQ(MountTable(mounts).AliasesOf("/home/me/.ssh"), Places{"/keys"});
}

TEST(MountAliasesTest, SubvolumesAndTheirWhole) {
  const std::vector<MountPoint> mounts = {
      {"0:25", "/@", "/"}, {"0:25", "/@home", "/home"}, {"0:25", "/", "/mnt/all"}};
  EXPECT_EQ(MountTable(mounts).AliasesOf("/home/me/.ssh"), Places{"/mnt/all/@home/me/.ssh"});
}

TEST(MountAliasesTest, TheLastMountAtAPlaceCounts) {
  const std::vector<MountPoint> mounts = {{"8:1", "/", "/"},
                                          {"8:2", "/", "/home"},
                                          {"8:3", "/", "/home"},
                                          {"8:3", "/", "/b"},
                                          {"8:2", "/", "/c"}};
  EXPECT_EQ(MountTable(mounts).AliasesOf("/home/me"), Places{"/b/me"});
}

}  // namespace
}  // namespace spty
