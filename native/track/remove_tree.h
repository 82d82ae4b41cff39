// Removes a directory and everything in it.
#pragma once

namespace spty {

// Follows no symbolic link and leaves no file system, needs a bounded number of descriptors however deep the
// tree is, and opens up directories whose owner has locked them. 0, or the errno of the first thing that
// could not be removed; the rest is removed all the same. ENOENT is no error.
int RemoveTree(const char* path);
// The same, but EPERM if the directory is not this user's.
int RemoveOwnTree(const char* path);

// Removes the cgroups inside this one, as far as nobody is in them: only directories, since the files of a
// cgroup go with it. A session inside the session makes them, or the session itself if it may.
void RemoveCgroupsIn(int dir, const char* name);

}  // namespace spty
