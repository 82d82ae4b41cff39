// Directories by descriptor, without the heap where the kernel allows it. The keeper has it too: no C++
// library.
#pragma once

#include <stdint.h>
#include <sys/stat.h>

#include "base/fd.h"

namespace spty {

// A directory that we can read and write, whatever its mode was; not a link to one. Invalid with errno set.
Fd OpenDirectory(int dir, const char* name, struct stat* info);

// Tells `visit` of every entry but "." and "..", from the beginning; it may remove what it is told of. 0, or
// the errno that ended it.
enum class EntryKind : uint8_t { kDirectory, kLink, kOther, kUnknown };  // not every file system tells
using VisitEntry = void (*)(void* context, const char* name, EntryKind kind);
int ListDirectory(int dir, VisitEntry visit, void* context);

}  // namespace spty
