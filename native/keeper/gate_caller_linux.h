// What a caller asked for, taken from it once: its socket, its address, its place in the file system.
#pragma once

#include <stdint.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "uapi/seccomp_notify.h"

namespace spty {

// The kernel's own limit for an address.
inline constexpr int kMaxAddress = 128;

struct CallerAddress {
  alignas(8) unsigned char bytes[kMaxAddress];
  int length;
};

// The functions below are named by a number that could be somebody else's by now. So nothing that they give
// may be used before StillWaiting() has said that the caller has been there all the time.

// A copy of the caller's descriptor `number`. EBADF as the kernel would say; EACCES if the caller may not be
// looked into (non-dumpable, or already gone); EAGAIN if we are out of descriptors.
int TakeDescriptor(const uapi::SeccompNotif& request, int number, Fd* copy);

// The address, copied once. EINVAL and EFAULT as the kernel would say, EACCES as above.
int TakeAddress(const uapi::SeccompNotif& request, uint64_t pointer, int length, CallerAddress* address);

// The caller's root or working directory (O_PATH). EACCES as above, EAGAIN.
int TakeRoot(const uapi::SeccompNotif& request, Fd* root);
int TakeWorkingDirectory(const uapi::SeccompNotif& request, Fd* directory);

// Whether the caller still waits for the answer to request `id`.
bool StillWaiting(int listener, uint64_t id);

}  // namespace spty
