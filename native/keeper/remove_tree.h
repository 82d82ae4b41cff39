// Removes a directory and everything in it.
#pragma once

namespace spty {

// Follows no symbolic link and leaves no file system, needs a bounded number of descriptors however deep the
// tree is, and opens up directories whose owner has locked them. 0, or the errno of the first thing that
// could not be removed; the rest is removed all the same. ENOENT is no error.
int RemoveTree(const char* path);

}  // namespace spty
