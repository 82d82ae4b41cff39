#include "session/path_search.h"

#include <gtest/gtest.h>

namespace spty {
namespace {

using Paths = std::vector<std::string>;

TEST(ProgramCandidates, IsTheFileItselfIfItHasASlash) {
  EXPECT_EQ(ProgramCandidates("/bin/sh", {"PATH=/a:/b"}), (Paths{"/bin/sh"}));
  EXPECT_EQ(ProgramCandidates("./here", {"PATH=/a:/b"}), (Paths{"./here"}));
  EXPECT_EQ(ProgramCandidates("sub/there", {"PATH=/a"}), (Paths{"sub/there"}));
}

TEST(ProgramCandidates, FollowsThePathOfTheEnvironmentInOrder) {
  EXPECT_EQ(ProgramCandidates("x", {"A=1", "PATH=/b:/a", "PATH=/never"}), (Paths{"/b/x", "/a/x"}));
  EXPECT_EQ(ProgramCandidates("x", {"MYPATH=/no", "PATH=/yes"}), (Paths{"/yes/x"}));
}

TEST(ProgramCandidates, UsesTheDefaultWithoutAPath) {
  EXPECT_EQ(ProgramCandidates("x", {}), (Paths{"/bin/x", "/usr/bin/x"}));
  EXPECT_EQ(ProgramCandidates("x", {"PATHS=/no"}), (Paths{"/bin/x", "/usr/bin/x"}));
}

TEST(ProgramCandidates, TakesAnEmptyEntryForTheCurrentDirectory) {
  EXPECT_EQ(ProgramCandidates("x", {"PATH="}), (Paths{"./x"}));
  EXPECT_EQ(ProgramCandidates("x", {"PATH=:/a"}), (Paths{"./x", "/a/x"}));
  EXPECT_EQ(ProgramCandidates("x", {"PATH=/a:"}), (Paths{"/a/x", "./x"}));
  EXPECT_EQ(ProgramCandidates("x", {"PATH=/a::/b"}), (Paths{"/a/x", "./x", "/b/x"}));
}

TEST(ProgramCandidates, KeepsWhatIsOdd) {
  EXPECT_EQ(ProgramCandidates("x", {"PATH=rel:/a/"}), (Paths{"rel/x", "/a//x"}));
}

}  // namespace
}  // namespace spty
