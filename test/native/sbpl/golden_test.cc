// The whole text of the profiles for the settings examples: a change of the generator shows as a change here.
// SPTY_UPDATE_GOLDEN=1 writes them anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "confine/seatbelt_profile.h"
#include "sbpl/examples.h"
#include "sbpl/mac_policy.h"
#include "sbpl/profile.h"

namespace spty::sbpl {
namespace {

std::filesystem::path GoldenFile(const std::string& name) {
  return std::filesystem::path(__FILE__).parent_path() / "golden" / (name + ".sb");
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(SeatbeltGoldenTest, ProfilesOfTheExamples) {
  for (const Example& example : kExamples) {
    const auto policy = MacPolicy(example.settings);
    ASSERT_NE(policy, nullptr);
    const auto text = SeatbeltProfile(
        *policy, {"/tmp/.sandboxed-pty-11111111-2222-4333-8444-555555555555", "/dev/ttys009", 4128});
    ASSERT_TRUE(text.ok()) << example.name;
    std::string problem;
    EXPECT_TRUE(Profile::Parse(text.value(), &problem)) << problem;
    const auto path = GoldenFile(example.name);
    if (std::getenv("SPTY_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text.value();
    EXPECT_EQ(text.value(), ReadFile(path)) << path;
  }
}

}  // namespace
}  // namespace spty::sbpl
