#include "track/set_id_programs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "policy/scratch.h"

namespace spty {
namespace {

TEST(SetIdProgramsTest, FindsFilesByTheirMode) {
  Scratch scratch;
  const std::string place = scratch.Dir("bin");
  for (const auto& [name, mode] :
       {std::pair("plain", 0755), std::pair("user", 04755), std::pair("group", 02755)}) {
    scratch.File(std::string("bin/") + name);
    ASSERT_EQ(chmod((place + "/" + name).c_str(), static_cast<mode_t>(mode)), 0);
  }
  // A directory's bits mean something else, and a link is not what is executed.
  std::filesystem::create_directory(place + "/directory");
  ASSERT_EQ(chmod((place + "/directory").c_str(), 02755), 0);
  std::filesystem::create_symlink(place + "/user", place + "/link");
  const std::string missing = scratch.Path("missing");
  const char* const places[] = {missing.c_str(), place.c_str()};
  EXPECT_EQ(SetIdPrograms(places), (std::vector<std::string>{place + "/group", place + "/user"}));
}

}  // namespace
}  // namespace spty
