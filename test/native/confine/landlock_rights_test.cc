#include "confine/landlock_rights.h"

#include <gtest/gtest.h>

#include "uapi/landlock.h"

namespace spty {
namespace {

using namespace landlock;

// What each ABI added, from the kernel's documentation; 8 adds nothing that we handle here.
TEST(LandlockRights, HandlesEverythingThatEachAbiKnows) {
  const struct {
    int abi;
    uint64_t fs;
    uint64_t net;
    uint64_t scopes;
  } table[] = {
      {0, 0, 0, 0},          {1, 0x1fff, 0, 0},      {2, 0x3fff, 0, 0},       {3, 0x7fff, 0, 0},
      {4, 0x7fff, 0x3, 0},   {5, 0xffff, 0x3, 0},    {6, 0xffff, 0x3, 0x3},   {7, 0xffff, 0x3, 0x3},
      {8, 0xffff, 0x3, 0x3}, {9, 0x1ffff, 0x3, 0x3}, {10, 0x1ffff, 0xf, 0x3}, {99, 0x1ffff, 0xf, 0x3},
  };
  for (const auto& row : table) {
    const LandlockRights rights(row.abi);
    EXPECT_EQ(rights.handled_fs, row.fs) << row.abi;
    EXPECT_EQ(rights.network, row.net) << row.abi;
    EXPECT_EQ(rights.scopes, row.scopes) << row.abi;
  }
}

TEST(LandlockRights, NeverGrantsWhatTheAbiDoesNotHandle) {
  for (int abi = 0; abi <= 10; ++abi) {
    const LandlockRights rights(abi);
    for (FileType type : {FileType::kDirectory, FileType::kFile, FileType::kDevice}) {
      for (Rights granted : {Rights::kRead, Rights::kReadExecute, Rights::kReadWrite})
        EXPECT_EQ(rights.For(granted, type) & ~rights.handled_fs, 0U);
      EXPECT_EQ(rights.ForTerminal(type) & ~rights.handled_fs, 0U);
    }
  }
}

// A grant for files is none for the sockets in it, and all writable directories have the same rights: else
// the kernel refuses to move files between them.
TEST(LandlockRights, NeverGrantsSocketsWithFiles) {
  const LandlockRights rights(9);
  for (FileType type : {FileType::kDirectory, FileType::kFile, FileType::kDevice}) {
    for (Rights granted : {Rights::kRead, Rights::kReadExecute, Rights::kReadWrite})
      EXPECT_EQ(rights.For(granted, type) & kResolveUnix, 0U);
    EXPECT_EQ(rights.ForTerminal(type) & kResolveUnix, 0U);
  }
}

TEST(LandlockRights, GrowFromReadToWrite) {
  const LandlockRights rights(7);
  const uint64_t read = rights.For(Rights::kRead, FileType::kDirectory);
  const uint64_t execute = rights.For(Rights::kReadExecute, FileType::kDirectory);
  const uint64_t write = rights.For(Rights::kReadWrite, FileType::kDirectory);
  EXPECT_EQ(read, kReadFile | kReadDir);
  EXPECT_EQ(execute, read | kExecute);
  EXPECT_EQ(write & execute, execute);
  // Moving between directories, emptying files.
  EXPECT_EQ(write & (kRefer | kTruncate), kRefer | kTruncate);
  // No devices: neither making them nor controlling those that somebody put there.
  EXPECT_EQ(write & (kMakeChar | kMakeBlock | kIoctlDev), 0U);
}

TEST(LandlockRights, OfAFileAreOnlyThoseThatFilesHave) {
  const LandlockRights rights(7);
  EXPECT_EQ(rights.For(Rights::kRead, FileType::kFile), kReadFile);
  EXPECT_EQ(rights.For(Rights::kReadWrite, FileType::kFile), kReadFile | kWriteFile | kExecute | kTruncate);
  EXPECT_EQ(rights.ForDevice(), kReadFile | kWriteFile | kTruncate);
  EXPECT_EQ(rights.ForTerminal(FileType::kDevice), rights.ForDevice() | kIoctlDev);
  EXPECT_EQ(rights.ForTerminal(FileType::kDirectory), rights.ForDevice() | kIoctlDev | kReadDir);
}

}  // namespace
}  // namespace spty
