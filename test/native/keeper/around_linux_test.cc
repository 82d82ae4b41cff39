// Rules around what is protected, in the kernel.
#include <gtest/gtest.h>

#include "keeper/rules_around_linux.h"
#include "support/in_child.h"

namespace spty {
namespace {

namespace fs = std::filesystem;

TEST_F(RulesAroundTest, EverythingButWhatIsClosed) {
  const std::string top = scratch_.Dir("top");
  for (const char* name : {"top/secret", "top/open", "top/dir/file", "top/store/key", "top/store/other/file"})
    scratch_.File(name);
  const std::string complaint = InChild([&]() -> std::string {
    const auto at = [&](const char* name) { return top + "/" + name; };
    CHILD_CHECK(CanRead(at("secret")) && CanRead(at("store/key")));
    CHILD_CHECK(Enter(top, {"-" + at("secret"), "-" + at("store/key"), "-" + at("store/missing")}));
    CHILD_CHECK(!CanRead(at("secret")) && !CanRead(at("store/key")));
    CHILD_CHECK(CanRead(at("open")) && CanWrite(at("open")));
    CHILD_CHECK(CanWrite(at("dir/file")) && CanMake(at("dir/new")) && CanRead(at("dir")));
    CHILD_CHECK(CanWrite(at("store/other/file")));
    // The directories on the way: listing them and making something new would count in the protected places.
    CHILD_CHECK(!CanRead(top) && !CanRead(at("store")));
    CHILD_CHECK(!CanMake(at("new")) && !CanMake(at("store/missing")) && !CanMake(at("store/new")));
    return "";
  });
  EXPECT_EQ(complaint, "");
}

TEST_F(RulesAroundTest, WhatMayOnlyBeRead) {
  const std::string top = scratch_.Dir("top");
  for (const char* name : {"top/config/file", "top/config/secret", "top/single", "top/free"})
    scratch_.File(name);
  const std::string complaint = InChild([&]() -> std::string {
    const auto at = [&](const char* name) { return top + "/" + name; };
    CHILD_CHECK(CanWrite(at("config/file")) && CanWrite(at("single")));
    CHILD_CHECK(Enter(top, {"r" + at("config"), "r" + at("single"), "-" + at("config/secret")}));
    CHILD_CHECK(CanRead(at("config/file")) && !CanWrite(at("config/file")));
    CHILD_CHECK(!CanRead(at("config/secret")));
    CHILD_CHECK(CanRead(at("single")) && !CanWrite(at("single")));
    CHILD_CHECK(CanWrite(at("free")));
    return "";
  });
  EXPECT_EQ(complaint, "");
}

// A name that begins like a protected one is another one.
TEST_F(RulesAroundTest, NamesAreComparedWhole) {
  const std::string top = scratch_.Dir("top");
  for (const char* name : {"top/key", "top/key2", "top/ke"}) scratch_.File(name);
  const std::string complaint = InChild([&]() -> std::string {
    CHILD_CHECK(Enter(top, {"-" + top + "/key"}));
    CHILD_CHECK(!CanRead(top + "/key") && CanRead(top + "/key2") && CanRead(top + "/ke"));
    return "";
  });
  EXPECT_EQ(complaint, "");
}

// Where a link leads is granted by its own name, or not at all.
TEST_F(RulesAroundTest, LinksGrantNothing) {
  const std::string top = scratch_.Dir("top");
  scratch_.File("top/secret");
  const std::string outside = scratch_.File("outside/file");
  scratch_.Link("top/out", scratch_.Path("outside"));
  scratch_.Link("top/in", top + "/secret");
  const std::string complaint = InChild([&]() -> std::string {
    CHILD_CHECK(CanRead(top + "/out/file") && CanRead(top + "/in"));
    CHILD_CHECK(Enter(top, {"-" + top + "/secret"}));
    CHILD_CHECK(!CanRead(top + "/out/file") && !CanRead(outside) && !CanRead(top + "/in"));
    return "";
  });
  EXPECT_EQ(complaint, "");
}

TEST_F(RulesAroundTest, WhatCannotBeListedIsNotGranted) {
  if (geteuid() == 0) GTEST_SKIP() << "needs an unprivileged user";
  const std::string top = scratch_.Dir("top");
  scratch_.File("top/blind/file");
  scratch_.File("top/blind/secret");
  fs::permissions(top + "/blind", fs::perms(0311));
  const std::string complaint = InChild([&]() -> std::string {
    CHILD_CHECK(CanRead(top + "/blind/file"));
    CHILD_CHECK(Enter(top, {"-" + top + "/blind/secret"}));
    CHILD_CHECK(!CanRead(top + "/blind/file"));
    return "";
  });
  fs::permissions(top + "/blind", fs::perms(0755));
  EXPECT_EQ(complaint, "");
}

// However wide a grant is, it does not mean that the system can be changed.
TEST_F(RulesAroundTest, KernelInterfacesAreNotWritable) {
  const std::string complaint = InChild([&]() -> std::string {
    const std::string control = "/proc/self/oom_score_adj";
    CHILD_CHECK(CanWrite(control));
    CHILD_CHECK(Enter("/", {"-/nothing/of/that/name"}));
    CHILD_CHECK(CanRead(control) && !CanWrite(control));
    CHILD_CHECK(CanWrite("/dev/null") && CanRead(scratch_.home()));
    return "";
  });
  EXPECT_EQ(complaint, "");
}

TEST_F(RulesAroundTest, SaysWhereItFailed) {
  const std::string top = scratch_.Dir("top");
  scratch_.File("top/file");
  std::string where;
  const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_EQ(Add(Ruleset().fd(), top, {"-" + top + "/x"}, &where), 0);
  EXPECT_EQ(Add(null.get(), top, {"-" + top + "/x"}, &where), EBADFD);
  EXPECT_EQ(where, top + "/file");
  // Of a long one the end, in whole characters, and always terminated.
  EXPECT_NE(Add(null.get(), top, {"-" + top + "/x"}, &where, 8), 0);
  EXPECT_EQ(where, "...file");
  const std::string accents = scratch_.Dir("accents");
  scratch_.File("accents/\xc3\xa9\xc3\xa9\xc3\xa9");
  EXPECT_NE(Add(null.get(), accents, {"-" + accents + "/x"}, &where, 9), 0);
  EXPECT_EQ(where, "...\xc3\xa9\xc3\xa9");
  EXPECT_EQ(Add(Ruleset().fd(), top + "/file", {"-" + top + "/file/x"}, &where), ENOTDIR);
  EXPECT_EQ(where, top + "/file");
}

// Nobody knows how long it takes: whoever waits hears that it goes on, and whoever is gone is not worked for.
TEST_F(RulesAroundTest, TellsThatItGoesOn) {
  const std::string top = scratch_.Dir("top");
  constexpr int kEntries = 5000;
  for (int i = 0; i < kEntries; ++i) scratch_.File("top/" + std::to_string(i));
  const LandlockRuleset ruleset = Ruleset();
  const auto add = [&] { return Add(ruleset.fd(), top, {"-" + top + "/x"}); };
  // As often as it takes until a second has passed in the middle of one.
  while (told_.times == 0) ASSERT_EQ(add(), 0);
  told_.times = 0;
  told_.answer = ECONNRESET;
  int err = 0;
  while (err == 0) err = add();
  EXPECT_EQ(err, ECONNRESET);
  EXPECT_EQ(told_.times, 1);
}

// Whoever has gone is not worked for.
TEST_F(RulesAroundTest, LooksAgainAndAgainWhetherItIsStillWanted) {
  const std::string top = scratch_.Dir("top");
  for (int i = 0; i < 200; ++i) scratch_.File("top/" + std::to_string(i));
  EXPECT_EQ(Add(Ruleset().fd(), top, {"-" + top + "/x"}), 0);
  EXPECT_EQ(told_.looks, 3);
  told_.look = [] { return ECANCELED; };
  EXPECT_EQ(Add(Ruleset().fd(), top, {"-" + top + "/x"}), ECANCELED);
  EXPECT_EQ(told_.looks, 4);
}

TEST_F(RulesAroundTest, DepthHasALimit) {
  std::string deep = "top";
  for (int i = 0; i < 210; ++i) deep += "/d";
  scratch_.Dir(deep);
  const std::string top = scratch_.Path("top");
  EXPECT_EQ(Add(Ruleset().fd(), top, {"-" + scratch_.Path(deep)}), ENAMETOOLONG);
  EXPECT_EQ(Add(Ruleset().fd(), top, {"-" + top + "/d/d/d/d"}), 0);
}

}  // namespace
}  // namespace spty
