// Rules around what is protected, in the kernel.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"
#include "confine/landlock_rights.h"
#include "confine/landlock_ruleset.h"
#include "keeper/around.h"
#include "policy/scratch.h"
#include "support/in_child.h"

namespace spty {
namespace {

namespace fs = std::filesystem;

bool CanRead(const std::string& path) { return Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC)).valid(); }
bool CanWrite(const std::string& path) { return Fd(open(path.c_str(), O_WRONLY | O_CLOEXEC)).valid(); }
bool CanMake(const std::string& path) { return mkdir(path.c_str(), 0700) == 0; }

class RulesAroundTest : public ::testing::Test {
 protected:
  void SetUp() override {
    abi_ = static_cast<int>(syscall(landlock::kCreateRuleset, nullptr, 0, landlock::kQueryVersion));
    if (abi_ < 1) GTEST_SKIP() << "needs Landlock";
  }

  LandlockRuleset Ruleset() const {
    landlock::RulesetAttr attr;
    attr.handled_fs = LandlockRights(abi_).handled_fs;
    auto ruleset = LandlockRuleset::Create(attr);
    EXPECT_TRUE(ruleset.ok());
    return std::move(ruleset).value();
  }

  // Of a directory that may be read and written.
  int Add(int ruleset, const std::string& directory, const std::vector<std::string>& holes,
          std::string* failed = nullptr, size_t room = 4096) const {
    const LandlockRights rights(abi_);
    uint64_t masks[wire::kAroundRights];
    const auto fill = [&](wire::AroundRight kind, Rights granted) {
      masks[kind] = rights.For(granted, FileType::kDirectory);
      masks[kind + 1] = rights.For(granted, FileType::kFile);
    };
    fill(wire::kAsGranted, Rights::kReadWrite);
    fill(wire::kForReading, Rights::kReadExecute);
    fill(wire::kOfKernel, Rights::kRead);
    std::vector<char*> lines;
    for (const std::string& hole : holes) lines.push_back(const_cast<char*>(hole.c_str()));
    const Fd fd(open(directory.c_str(), O_PATH | O_CLOEXEC));
    const Around around{fd.get(), directory.c_str(), masks, lines.data(),
                        static_cast<uint32_t>(lines.size())};
    std::string text(room, '?');
    const int err =
        AddRulesAround(ruleset, around, {Tell, &told_}, text.data(), failed == nullptr ? 0 : room);
    if (failed != nullptr) *failed = text.c_str();
    return err;
  }

  // Into a domain of these rules.
  bool Enter(const std::string& directory, const std::vector<std::string>& holes) const {
    const LandlockRuleset ruleset = Ruleset();
    return Add(ruleset.fd(), directory, holes) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(landlock::kRestrictSelf, ruleset.fd(), 0) == 0;
  }

  struct Told {
    int times = 0;
    int answer = 0;
  };
  static int Tell(void* context) {
    auto* told = static_cast<Told*>(context);
    ++told->times;
    return told->answer;
  }

  int abi_ = 0;
  mutable Told told_;
  Scratch scratch_;
};

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
  told_ = {0, ECONNRESET};
  int err = 0;
  while (err == 0) err = add();
  EXPECT_EQ(err, ECONNRESET);
  EXPECT_EQ(told_.times, 1);
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
