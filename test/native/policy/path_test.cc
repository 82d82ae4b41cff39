// path_text, path_pin and path_resolver.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "policy/path_pin.h"
#include "policy/path_resolver.h"
#include "policy/path_text.h"
#include "policy/scratch.h"
#include "support/in_child.h"

namespace spty {
namespace {

TEST(PathTextTest, WithinMeansWholeComponents) {
  EXPECT_TRUE(IsWithin("/a/b", "/a"));
  EXPECT_TRUE(IsWithin("/a", "/a"));
  EXPECT_TRUE(IsWithin("/a", "/"));
  EXPECT_FALSE(IsWithin("/ab", "/a"));
  EXPECT_FALSE(IsWithin("/", "/a"));
}

TEST(PathTextTest, TidiesAndSplits) {
  EXPECT_EQ(TidyPath("//a/./b/../c//"), "/a/b/../c");
  EXPECT_EQ(TidyPath("/"), "/");
  EXPECT_TRUE(HasDotDot("/a/.."));
  EXPECT_FALSE(HasDotDot("/a/..b"));
  EXPECT_EQ(ParentOf("/a"), "/");
  EXPECT_EQ(ParentOf("/a/b"), "/a");
  EXPECT_EQ(NameIn("/a/b"), "b");
  EXPECT_EQ(ShortenHome("/home/me/x", "/home/me"), "~/x");
  EXPECT_EQ(ShortenHome("/home/meme", "/home/me"), "/home/meme");
}

TEST(PathTextTest, KnowsWhatCanBeTheNameOfAPlace) {
  for (const char* path : {"/", "/a", "/a/b.c/..d/...", "/a/ b"}) EXPECT_TRUE(IsPlainPath(path)) << path;
  for (const char* path : {"", ".", "a", "//", "/a/", "/a//b", "/.", "/a/./b", "/..", "/a/../b"})
    EXPECT_FALSE(IsPlainPath(path)) << path;
  EXPECT_FALSE(IsPlainPath(std::string_view("/a\0b", 4)));
}

TEST(PathPinTest, SaysWhereALinkLeads) {
  const Scratch scratch;
  scratch.Dir("real/dir");
  const std::string link = scratch.Link("link", "real");
  const Result<PinnedPath> pin = PinPath(link + "/dir");
  ASSERT_TRUE(pin.ok());
  EXPECT_EQ(pin.value().path, scratch.Path("real/dir"));
  EXPECT_EQ(pin.value().type, FileType::kDirectory);
  EXPECT_GE(pin.value().fd.get(), 3);
}

TEST(PathPinTest, TellsMissingFromUnresolvable) {
  const Scratch scratch;
  scratch.File("file");
  scratch.Link("loop", "loop");
  EXPECT_EQ(PinPath(scratch.Path("none")).error().err, ENOENT);
  EXPECT_EQ(PinPath(scratch.Path("file/x")).error().err, ENOTDIR);
  EXPECT_EQ(PinPath(scratch.Path("loop")).error().err, ELOOP);
}

TEST(PathPinTest, FindsASwapForALink) {
  const Scratch scratch;
  scratch.Dir("a/b");
  scratch.Dir("other/b");
  const Result<PinnedPath> pin = PinPath(scratch.Path("a/b"));
  ASSERT_TRUE(pin.ok());
  EXPECT_TRUE(VerifyPin(pin.value()).ok());
  std::filesystem::rename(scratch.Path("a"), scratch.Path("moved"));
  EXPECT_EQ(VerifyPin(pin.value()).error().err, ESTALE);
  scratch.Link("a", "other");
  EXPECT_EQ(VerifyPin(pin.value()).error().err, ESTALE);
  // In its own place, too, even one that leads to the very same directory.
  std::filesystem::remove(scratch.Path("a"));
  scratch.Dir("a");
  scratch.Link("a/b", "../moved/b");
  EXPECT_EQ(VerifyPin(pin.value()).error().err, ESTALE);
  std::filesystem::remove(scratch.Path("a/b"));
  std::filesystem::rename(scratch.Path("moved/b"), scratch.Path("a/b"));
  EXPECT_TRUE(VerifyPin(pin.value()).ok());
}

class ResolverTest : public ::testing::Test {
 protected:
  Scratch scratch_;
  std::vector<EnvVar> env_ = {{"CACHE", "/var/cache"}, {"EMPTY", ""}, {"HOME", "/wrong"}, {"REL", "sub"}};
  PathResolver resolver_{scratch_.home(), scratch_.project(), env_};

  std::string Expanded(std::string_view text) {
    const Expansion expansion = resolver_.Expand(text);
    EXPECT_EQ(expansion.outcome, Expansion::Outcome::kPath) << text;
    return expansion.text;
  }
};

TEST_F(ResolverTest, ExpandsHomeVariablesAndTheProject) {
  EXPECT_EQ(Expanded("~"), scratch_.home());
  EXPECT_EQ(Expanded("~/x/"), scratch_.Home("x"));
  EXPECT_EQ(Expanded("$HOME/x"), scratch_.Home("x"));
  EXPECT_EQ(Expanded("${HOME}x"), scratch_.home() + "x");
  EXPECT_EQ(Expanded("$CACHE/a$REL"), "/var/cache/asub");
  EXPECT_EQ(Expanded("./x"), scratch_.Project("x"));
  EXPECT_EQ(Expanded("."), scratch_.project());
  EXPECT_EQ(Expanded("$REL/y"), scratch_.Project("sub/y"));
  EXPECT_EQ(Expanded("/a$$b/$/c$"), "/a$b/$/c$");
  EXPECT_EQ(Expanded("/x/~"), "/x/~");
}

TEST_F(ResolverTest, ToldApart) {
  EXPECT_EQ(resolver_.Expand("$NOPE/x").outcome, Expansion::Outcome::kUnsetVariable);
  EXPECT_EQ(resolver_.Expand("/x/${EMPTY}").outcome, Expansion::Outcome::kUnsetVariable);
  EXPECT_EQ(resolver_.Expand("/x/${HOME").outcome, Expansion::Outcome::kBadSyntax);
  EXPECT_EQ(resolver_.Expand("/x/${HOME:-y}").outcome, Expansion::Outcome::kBadSyntax);
  EXPECT_EQ(PathResolver(scratch_.home(), "", env_).Expand("x").outcome, Expansion::Outcome::kNoProject);
}

TEST_F(ResolverTest, PlacesMissingPathsThroughWhatExists) {
  scratch_.Dir("data");
  scratch_.Link("home/me/store", scratch_.Path("data"));
  scratch_.Link("home/me/dangling", "../me/later/thing");
  scratch_.Link("home/me/loop", "loop");
  const auto place = [&](const std::string& path) {
    const Result<PathLookup> found = resolver_.LookUp(path);
    EXPECT_TRUE(found.ok()) << path;
    return found.ok() && !found.value().pin ? found.value().path : std::string("?");
  };
  EXPECT_EQ(place(scratch_.Home("store/a/b")), scratch_.Path("data/a/b"));
  EXPECT_EQ(place(scratch_.Home("dangling")), scratch_.Home("later/thing"));
  EXPECT_EQ(place(scratch_.Home("dangling/x")), scratch_.Home("later/thing/x"));
  const Result<PathLookup> loop = resolver_.LookUp(scratch_.Home("loop/x"));
  ASSERT_FALSE(loop.ok());
  EXPECT_EQ(loop.error().err, ELOOP);
}

TEST_F(ResolverTest, AnUnsearchableDirectoryIsAnErrorNotAMissingPath) {
  scratch_.File("home/me/locked/secret");
  std::filesystem::permissions(scratch_.Home("locked"), std::filesystem::perms::none);
  // Root searches every directory, so look as somebody else.
  EXPECT_EQ(InChild([&]() -> std::string {
              if (geteuid() == 0) CHILD_CHECK(setuid(65534) == 0);
              const Result<PathLookup> found = resolver_.LookUp(scratch_.Home("locked/secret"));
              CHILD_CHECK(!found.ok());
              CHILD_CHECK(found.error().err == EACCES);
              return "";
            }),
            "");
  std::filesystem::permissions(scratch_.Home("locked"), std::filesystem::perms::owner_all);
  EXPECT_TRUE(resolver_.LookUp(scratch_.Home("locked/secret")).ok());
}

}  // namespace
}  // namespace spty
