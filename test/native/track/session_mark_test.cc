#include "track/session_mark.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <regex>

#include "support/temp_dir.h"

namespace spty {
namespace {

namespace fs = std::filesystem;

TEST(SessionMarkTest, HasOneSideAndNotTheOther) {
  const TempDir place;
  std::string path;
  {
    auto mark = SessionMark::Create(place.path());
    ASSERT_TRUE(mark.ok());
    path = mark.value().path();
    const std::regex name(
        "\\.sandboxed-pty-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
    EXPECT_TRUE(std::regex_match(fs::path(path).filename().string(), name)) << path;
    EXPECT_TRUE(fs::is_directory(path + "/allow"));
    EXPECT_FALSE(fs::exists(path + "/deny"));
    struct stat info {};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700U);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(SessionMarkTest, NoTwoAreAlike) {
  const TempDir place;
  auto first = SessionMark::Create(place.path());
  auto second = SessionMark::Create(place.path());
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(first.value().path(), second.value().path());
}

TEST(SessionMarkTest, StaysIfItIsTheKeepers) {
  const TempDir place;
  std::string path;
  {
    auto mark = SessionMark::Create(place.path());
    ASSERT_TRUE(mark.ok());
    SessionMark moved = std::move(mark).value();
    moved.LeaveToKeeper();
    path = moved.path();
  }
  EXPECT_TRUE(fs::exists(path));
}

TEST(SessionMarkTest, SaysWhereItCouldNotBeMade) {
  const TempDir place;
  const auto mark = SessionMark::Create(place.path() + "/missing");
  ASSERT_FALSE(mark.ok());
  EXPECT_EQ(mark.error().stage, Stage::kMark);
  EXPECT_EQ(mark.error().err, ENOENT);
}

}  // namespace
}  // namespace spty
