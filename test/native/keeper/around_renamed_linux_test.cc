// What is renamed while the rules around it are made: before, in between, and from one directory to another.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include "keeper/rules_around_linux.h"
#include "support/in_child.h"
#include "track/directory.h"

namespace spty {
namespace {

namespace fs = std::filesystem;

using RenamedAroundTest = RulesAroundTest;

// In the order in which they are listed.
std::vector<std::string> Listed(const std::string& directory) {
  std::vector<std::string> names;
  const Fd fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto visit = [](void* context, const char* name, EntryKind) {
    static_cast<std::vector<std::string>*>(context)->emplace_back(name);
  };
  EXPECT_EQ(ListDirectory(fd.get(), visit, &names), 0);
  return names;
}

// The policy was resolved, then somebody renamed the directory with the key.
TEST_F(RenamedAroundTest, WhatWasRenamedBeforeIsMissed) {
  const std::string top = scratch_.Dir("top");
  scratch_.File("top/a/key");
  RulesAround around = Request(top, {"-" + top + "/a/key"});
  fs::rename(top + "/a", top + "/b");
  std::string where;
  EXPECT_EQ(Add(Ruleset().fd(), {around}, &where), ESTALE);
  EXPECT_EQ(where, top + "/a/key");
  // And put something else in its place.
  scratch_.File("top/a/key", "another");
  EXPECT_EQ(Add(Ruleset().fd(), {around}, &where), ESTALE);
  EXPECT_TRUE(where == top + "/a/key" || where == top + "/b") << where;
  // What nobody had seen there is protected by its name alone.
  around.holes[0].what = {};
  EXPECT_EQ(Add(Ruleset().fd(), {around}, &where), 0);
}

TEST_F(RenamedAroundTest, ALinkInItsPlaceIsNotIt) {
  const std::string top = scratch_.Dir("top");
  scratch_.File("top/a/key");
  scratch_.File("top/single");
  for (const std::string& hole : {"-" + top + "/single", "r" + top + "/single", "-" + top + "/a/key"}) {
    const RulesAround around = Request(top, {hole});
    const std::string place = hole.ends_with("key") ? top + "/a" : top + "/single";
    fs::rename(place, scratch_.Path("away"));
    fs::create_symlink(scratch_.Path("away"), place);
    std::string where;
    EXPECT_EQ(Add(Ruleset().fd(), {around}, &where), ESTALE);
    EXPECT_EQ(where, hole.substr(1));
    fs::remove(place);
    fs::rename(scratch_.Path("away"), place);
    EXPECT_EQ(Add(Ruleset().fd(), {around}, &where), 0);
  }
}

// It was met under its own name, and comes again under one that is listed later.
TEST_F(RenamedAroundTest, WhatIsRenamedWhileItIsListedIsFound) {
  const std::string top = scratch_.Dir("top");
  for (int i = 0; i < 80; ++i) scratch_.File("top/" + std::to_string(i));
  const std::vector<std::string> names = Listed(top);
  const std::string first = top + "/" + names.front();
  const std::string last = top + "/" + names.back();
  for (const char* kind : {"-", "r"}) {
    const RulesAround around = Request(top, {kind + first});
    told_.look = [&] { return rename(first.c_str(), last.c_str()) == 0 ? 0 : errno; };
    std::string where;
    EXPECT_EQ(Add(Ruleset().fd(), {around}, &where), ESTALE);
    EXPECT_EQ(where, last);
    fs::rename(last, first);
    scratch_.File("top/" + names.back());
  }
}

// The directory around it, while it is read itself.
TEST_F(RenamedAroundTest, AWayThatIsRenamedWhileItIsReadIsFound) {
  const std::string top = scratch_.Dir("top");
  for (const char* name : {"top/a", "top/b"}) scratch_.Dir(name);
  const std::vector<std::string> names = Listed(top);
  const std::string first = top + "/" + names.front();
  const std::string last = top + "/" + names.back();
  for (int i = 0; i < 80; ++i) scratch_.File("top/" + names.front() + "/" + std::to_string(i));
  const RulesAround around = Request(top, {"-" + first + "/7", "-" + first + "/missing"});
  told_.look = [&] { return rename(first.c_str(), last.c_str()) == 0 ? 0 : errno; };
  std::string where;
  EXPECT_EQ(Add(Ruleset().fd(), {around}, &where), ESTALE);
  EXPECT_EQ(where, last);
}

// From one granted directory to another, which is read after it or before.
TEST_F(RenamedAroundTest, WhatMovedToAnotherGrantIsFound) {
  const std::string one = scratch_.Dir("one");
  const std::string two = scratch_.Dir("two");
  const std::string three = scratch_.Dir("three");
  scratch_.File("one/a/key");
  scratch_.File("one/secret");
  for (int i = 0; i < 80; ++i) {
    scratch_.File("two/" + std::to_string(i));
    scratch_.Dir("three/" + std::to_string(i));
  }
  const RulesAround from = Request(one, {"-" + one + "/a/key", "-" + one + "/secret"});
  const auto expect_found = [&](const std::string& moved, const std::string& into) {
    const std::string last = into + "/" + Listed(into).back();
    const RulesAround to = Request(into, {"-" + into + "/x"});
    told_.look = [&] { return rename(moved.c_str(), last.c_str()) == 0 ? 0 : errno; };
    std::string where;
    EXPECT_EQ(Add(Ruleset().fd(), {from, to}, &where), ESTALE);
    EXPECT_EQ(where, last);
    told_.look = [] { return 0; };
    EXPECT_EQ(Add(Ruleset().fd(), {to, from}), ESTALE);
    fs::rename(last, moved);
    EXPECT_EQ(Add(Ruleset().fd(), {to, from}), 0);
  };
  expect_found(one + "/secret", two);
  expect_found(one + "/a", three);
}

// Nothing has moved: there is just no rule by the other name, as it would count for both.
TEST_F(RenamedAroundTest, ASecondNameGrantsNothing) {
  const std::string top = scratch_.Dir("top");
  scratch_.File("top/key");
  scratch_.File("top/open");
  fs::create_hard_link(top + "/key", top + "/link");
  fs::create_hard_link(top + "/open", top + "/open too");
  const std::string complaint = InChild([&]() -> std::string {
    CHILD_CHECK(Enter(top, {"-" + top + "/key"}));
    CHILD_CHECK(!CanRead(top + "/key") && !CanRead(top + "/link"));
    CHILD_CHECK(CanRead(top + "/open") && CanRead(top + "/open too"));
    return "";
  });
  EXPECT_EQ(complaint, "");
}

// Whether it is listed before the first one or after it.
TEST_F(RenamedAroundTest, ASecondMountGrantsNothing) {
  const std::string top = scratch_.Dir("top");
  for (const char* name : {"top/a", "top/b", "top/y", "top/z"}) scratch_.Dir(name);
  scratch_.File("top/m/key");
  scratch_.File("top/m/other");
  scratch_.File("top/open");
  constexpr char kNoMounts[] = "no mounts";
  const std::string complaint = InChild([&]() -> std::string {
    if (unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) return kNoMounts;
    if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return kNoMounts;
    for (const char* name : {"/a", "/b", "/y", "/z"}) {
      if (mount((top + "/m").c_str(), (top + name).c_str(), nullptr, MS_BIND, nullptr) != 0) return kNoMounts;
    }
    CHILD_CHECK(CanRead(top + "/a/key"));
    CHILD_CHECK(Enter(top, {"-" + top + "/m/key"}));
    CHILD_CHECK(CanRead(top + "/open") && CanRead(top + "/m/other"));
    for (const char* name : {"/a", "/b", "/m", "/y", "/z"}) CHILD_CHECK(!CanRead(top + name + "/key"));
    return "";
  });
  if (complaint.find(kNoMounts) != std::string::npos) GTEST_SKIP() << "needs user namespaces";
  EXPECT_EQ(complaint, "");
}

// In a closed directory nobody looks, in one that may be read everybody does.
TEST_F(RenamedAroundTest, WhatLiesInAProtectedDirectory) {
  const std::string top = scratch_.Dir("top");
  scratch_.File("top/closed/dir/key");
  scratch_.File("top/read/dir/key");
  const RulesAround around = Request(top, {"-" + top + "/closed", "-" + top + "/closed/dir/key",
                                           "r" + top + "/read", "-" + top + "/read/dir/key"});
  EXPECT_EQ(Add(Ruleset().fd(), {around}), 0);
  // The same below two grants.
  EXPECT_EQ(Add(Ruleset().fd(), {around, Request(top + "/read", {"-" + top + "/read/dir/key"}), around}), 0);
  fs::rename(top + "/closed/dir/key", top + "/closed/dir/key2");
  EXPECT_EQ(Add(Ruleset().fd(), {around}), 0);
  fs::rename(top + "/read/dir/key", top + "/read/dir/key2");
  std::string where;
  EXPECT_EQ(Add(Ruleset().fd(), {around}, &where), ESTALE);
  EXPECT_EQ(where, top + "/read/dir/key2");
}

TEST_F(RenamedAroundTest, WhatIsMissingIsNotMissed) {
  const std::string top = scratch_.Dir("top");
  scratch_.File("top/file");
  EXPECT_EQ(Add(Ruleset().fd(), top, {"-" + top + "/x", "r" + top + "/x/y", "-" + top + "/file/z"}), 0);
}

}  // namespace
}  // namespace spty
