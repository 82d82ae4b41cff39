#include "session/late_failure.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace spty {
namespace {

TEST(LateFailureText, IsNodePtysForWhatNodePtyCanMeet) {
  EXPECT_EQ(LateFailureText({Stage::kExec, ENOENT, ""}), "execvp(3) failed.: No such file or directory\r\n");
  EXPECT_EQ(LateFailureText({Stage::kExec, EACCES, ""}), "execvp(3) failed.: Permission denied\r\n");
  EXPECT_EQ(LateFailureText({Stage::kCwd, ENOTDIR, ""}), "chdir(2) failed.: Not a directory\r\n");
  EXPECT_EQ(LateFailureText({Stage::kGid, EPERM, ""}), "setgid(2) failed.: Operation not permitted\r\n");
  EXPECT_EQ(LateFailureText({Stage::kUid, EPERM, ""}), "setuid(2) failed.: Operation not permitted\r\n");
}

TEST(LateFailureText, NamesTheStageOfWhatNodePtyDoesNotHave) {
  EXPECT_EQ(LateFailureText({Stage::kGroups, EPERM, ""}),
            "setgroups(2) failed.: Operation not permitted\r\n");
  EXPECT_EQ(LateFailureText({Stage::kTerminal, EIO, ""}), "terminal failed.: Input/output error\r\n");
}

TEST(LateFailureText, NamesThePlaceWithoutObeyingIt) {
  const auto text = [](const char* path) { return LateFailureText({Stage::kConfinement, EIO, path}); };
  EXPECT_EQ(text("/home/caf\xc3\xa9"), "confinement failed.: /home/caf\xc3\xa9: Input/output error\r\n");
  EXPECT_EQ(text("/a\x1b[2J\nb\x7f"), "confinement failed.: /a?[2J?b?: Input/output error\r\n");
  EXPECT_EQ(text("/a\xc2\x9b"
                 "2J\xc2\xa0"),
            "confinement failed.: /a?2J\xc2\xa0: Input/output error\r\n");
}

}  // namespace
}  // namespace spty
