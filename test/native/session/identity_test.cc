#include "session/identity.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>

#include "base/groups.h"
#include "support/in_child.h"

namespace spty {
namespace {

using Ids = SpawnRequest::Ids;

TEST(ResolveIdentity, KeepsTheNumbersItWasGiven) {
  auto identity = ResolveIdentity(Ids{1234, 5678});
  ASSERT_TRUE(identity.ok());
  EXPECT_EQ(identity.value().uid, 1234U);
  EXPECT_EQ(identity.value().gid, 5678U);
}

TEST(ResolveIdentity, LeavesTheGroupsAloneIfNobodyElseIsMeant) {
  auto check = []() -> std::string {
    if (geteuid() == 0) CHILD_CHECK(setgid(4242) == 0 && setuid(4242) == 0);
    auto identity = ResolveIdentity(Ids{geteuid(), getegid()});
    CHILD_CHECK(identity.ok());
    CHILD_CHECK(!identity.value().set_groups);
    CHILD_CHECK(identity.value().groups.empty());
    return "";
  };
  EXPECT_EQ(InChild(check), "");
}

// Who may become somebody else without being root has capabilities, which need not include the one for
// groups.
TEST(ResolveIdentity, NeverTakesItsOwnGroupsAlongIntoAnotherIdentity) {
  auto check = []() -> std::string {
    if (geteuid() == 0) CHILD_CHECK(setgid(4242) == 0 && setuid(4242) == 0);
    for (const Ids& ids : {Ids{3'999'999'999, getegid()}, Ids{geteuid(), 88}, Ids{3'999'999'999, 88}}) {
      auto identity = ResolveIdentity(ids);
      CHILD_CHECK(identity.ok());
      CHILD_CHECK(identity.value().set_groups);
      CHILD_CHECK(!identity.value().groups.empty());
    }
    return "";
  };
  EXPECT_EQ(InChild(check), "");
}

TEST(ResolveIdentity, ReplacesTheGroupsByTheUsersOwn) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  // Root's entry is the one that every system has.
  auto identity = ResolveIdentity(Ids{0, 77});
  ASSERT_TRUE(identity.ok());
  EXPECT_TRUE(identity.value().set_groups);
  int count = 256;
  std::vector<ListedGroup> listed(256);
  ASSERT_GE(getgrouplist("root", 77, listed.data(), &count), 0);
  const std::vector<uint32_t> groups(listed.begin(), listed.begin() + count);
  EXPECT_EQ(identity.value().groups, groups);
  EXPECT_TRUE(std::count(groups.begin(), groups.end(), 77U) == 1);
}

TEST(ResolveIdentity, GivesANumberWithoutAnAccountItsOneGroup) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(getpwuid(3'999'999'999), nullptr);
  auto identity = ResolveIdentity(Ids{3'999'999'999, 88});
  ASSERT_TRUE(identity.ok());
  EXPECT_TRUE(identity.value().set_groups);
  EXPECT_EQ(identity.value().groups, std::vector<uint32_t>{88});
}

}  // namespace
}  // namespace spty
