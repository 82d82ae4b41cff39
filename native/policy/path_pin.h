// A path that was resolved once and is held on to. Checking and using happen through the same descriptor, so
// nobody can put a symbolic link in between.
#pragma once

#include <cstdint>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace spty {

enum class FileType : uint8_t { kDirectory, kFile, kSocket, kDevice, kOther };

struct PinnedPath {
  // Absolute, without symbolic links: what the kernel calls the open file, not what we were told.
  std::string path;
  // O_PATH on Linux. Invalid on macOS for a file we may not open there.
  Fd fd;
  uint64_t device = 0;
  uint64_t inode = 0;
  FileType type = FileType::kOther;
};

// Follows symbolic links. Error.err is ENOENT or ENOTDIR if there is no such file; anything else means that
// there may be one whose real place cannot be told, and the caller must not go on as if there were none.
Result<PinnedPath> PinPath(const std::string& absolute_path);

// The quick half of PinPath: only for a path that is its own place. ENOENT and ENOTDIR mean that nothing is
// there and that no symbolic link is on the way, so the text is where it would be. Any other error says
// nothing (a link, no such system call): ask PinThroughLinks.
Result<PinnedPath> PinExactly(const std::string& absolute_path);
// The other half: wherever links lead, as the kernel tells it afterwards.
Result<PinnedPath> PinThroughLinks(const std::string& absolute_path);

bool IsMissing(const Error& error);

// Whether the pinned file is at `place`, a path without links.
bool IsSamePlace(const PinnedPath& pin, const std::string& place);
// How the file system itself spells a path without links, as far as it can be asked.
std::string RealName(const std::string& place);

// Whether no process of this user, privileges aside, can have put a symbolic link into the directory: it is
// neither theirs nor may they write to it. `directory` is without links; if it has become something else
// meanwhile the answer is no. For root the answer is always no.
bool IsBeyondTheUser(const std::string& directory);

// Whether the pinned file is still what its path leads to, and is no symbolic link. ESTALE if not; the error
// itself if the host is short of something, and has not seen the path change.
Result<void> VerifyPin(const PinnedPath& pin);

}  // namespace spty
