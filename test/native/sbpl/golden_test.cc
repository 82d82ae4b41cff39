// The whole text of the profiles for the settings examples: a change of the generator shows as a change here.
// SPTY_UPDATE_GOLDEN=1 writes them anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "confine/seatbelt_profile.h"
#include "sbpl/mac_policy.h"
#include "sbpl/profile.h"

namespace spty::sbpl {
namespace {

struct Example {
  const char* name;
  const char* settings;
};

constexpr Example kExamples[] = {
    {"terminal", R"({"terminal": {"sandbox": {
       "enabled": true, "apply_to": "both",
       "additional_executable_paths": ["~/.cargo/bin", "~/.rustup/toolchains", "~/.local/bin"],
       "additional_read_only_paths": ["~/.ssh"],
       "additional_read_write_paths": ["~/.cargo/registry", "~/.cargo/git", "~/.cache"],
       "allow_network": true}}})"},
    {"platform-block", R"({
       "terminal": {"sandbox": {"enabled": true, "additional_read_only_paths": ["~/.ssh"]}},
       "macos": {"terminal": {"sandbox": {"system_paths": {"executable": [
         "/bin", "/usr/bin", "/usr/sbin", "/sbin", "/usr/lib", "/usr/libexec", "/System/Library/dyld",
         "/System/Cryptexes", "/Library/Developer/CommandLineTools/usr/bin"]}}}}})"},
    {"workspace", R"({"enabled": true, "profile": "workspace", "allow_read": ["$HOME/.cache/zeph"],
                      "allow_write": ["./.local"], "strict": true, "backend": "auto"})"},
    {"agent", R"({"enabled": true, "profile": "agent"})"},
    {"agent-commit", R"({"enabled": true, "profile": "agent", "git_access": "commit",
                         "network_hosts": ["github.com", "*.npmjs.org"]})"},
    {"read-only", R"({"enabled": true, "profile": "read-only"})"},
};

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
