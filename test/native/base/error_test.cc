#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <map>

#include "base/result.h"

namespace spty {
namespace {

TEST(ErrnoName, KnowsWhatASessionCanMeet) {
  const std::map<int, std::string> expected = {
      {ENOENT, "ENOENT"}, {EACCES, "EACCES"}, {EPERM, "EPERM"},   {ENOTDIR, "ENOTDIR"},
      {ELOOP, "ELOOP"},   {E2BIG, "E2BIG"},   {EMFILE, "EMFILE"}, {ENAMETOOLONG, "ENAMETOOLONG"},
      {EAGAIN, "EAGAIN"}, {EPROTO, "EPROTO"}, {EBADF, "EBADF"},   {ECONNRESET, "ECONNRESET"},
      {EIO, "EIO"},       {EINVAL, "EINVAL"}, {ENOSPC, "ENOSPC"}, {ETIMEDOUT, "ETIMEDOUT"},
  };
  for (const auto& [err, name] : expected) EXPECT_EQ(ErrnoName(err), name);
}

TEST(ErrnoName, GivesTheNumberOfOneWithoutAName) {
  EXPECT_EQ(ErrnoName(4000), "E4000");
  EXPECT_EQ(ErrnoName(0), "E0");
}

TEST(ErrnoName, GivesNoNameTwice) {
  std::map<std::string, int> seen;
  for (int err = 1; err < 200; ++err) {
    auto [entry, fresh] = seen.emplace(ErrnoName(err), err);
    EXPECT_TRUE(fresh) << entry->first << " is both " << entry->second << " and " << err;
  }
}

TEST(Describe, NamesStageSubjectAndReason) {
  EXPECT_EQ(Describe(Error{Stage::kExec, ENOENT, "/bin/nope"}),
            std::string("exec: /bin/nope: ") + strerror(ENOENT));
}

TEST(Describe, LeavesOutWhatIsNotThere) {
  EXPECT_EQ(Describe(Error{Stage::kFork, EAGAIN, ""}), std::string("fork: ") + strerror(EAGAIN));
  EXPECT_EQ(Describe(Error{Stage::kRequest, 0, "cols"}), "request: cols");
}

}  // namespace
}  // namespace spty
