// What the default lists of macOS mean, as far as another system can tell.
#include <gtest/gtest.h>

#include "policy/scratch.h"

namespace spty {
namespace {

class MacosPathsTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Policy> Resolve(const std::string& temp, Layer layer) {
    PolicyInput input = scratch_.Input(R"({"enabled": true})");
    input.env = {{"TMPDIR", temp}};
    Scratch::Change(input, [&](Settings& settings) {
      settings.platform = Platform::kMacos;
      settings.read_write.items = {{"/var/folders", {layer, "/system_paths/read_write"}}};
    });
    return scratch_.Resolve(std::move(input));
  }

  Scratch scratch_;
};

// A variable must not open anything that the list does not.
TEST_F(MacosPathsTest, ATemporaryDirectoryElsewhereIsNotGranted) {
  for (const std::string& temp :
       {scratch_.Dir("elsewhere"), std::string("/"), std::string("/var/folders/..")}) {
    const auto policy = Resolve(temp, Layer::kDefault);
    EXPECT_FALSE(policy->Decide(scratch_.Path("elsewhere/x"), Rights::kReadWrite).allowed) << temp;
    EXPECT_FALSE(policy->Decide("/var/folders/zz/other/T/x", Rights::kReadWrite).allowed) << temp;
    EXPECT_NE(FindSkipped(*policy, "/var/folders"), nullptr) << temp;
  }
}

// Looked up when the session starts; granted where it exists, noted by its own name where it does not.
TEST_F(MacosPathsTest, OfTheTemporaryDirectoriesOnlyTheUsersOwnIsMeant) {
  const std::string own = "/var/folders/zz/me/T";
  const auto policy = Resolve(own, Layer::kDefault);
  EXPECT_EQ(FindSkipped(*policy, "/var/folders"), nullptr);
  EXPECT_TRUE(FindGrant(*policy, own) != nullptr || FindSkipped(*policy, own) != nullptr);
  EXPECT_FALSE(policy->Decide("/var/folders/zz/other/T/x", Rights::kReadWrite).allowed);
}

TEST_F(MacosPathsTest, FrameworksAreReadableWhateverTheListsSay) {
  const auto policy = Resolve("", Layer::kDefault);
  // Granted where it exists, noted where it does not.
  const bool known =
      FindGrant(*policy, "/System/Library") != nullptr || FindSkipped(*policy, "/System/Library") != nullptr;
  EXPECT_TRUE(known);
  EXPECT_EQ(FindSkipped(*policy, "/proc"), nullptr);
}

}  // namespace
}  // namespace spty
