#include "keeper/gate_caller_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/eintr.h"
#include "keeper/gate_text_linux.h"
#include "uapi/process_files.h"

namespace spty {
namespace {

// What the caller is told when we could not look into it.
int Refusal(int err) {
  switch (err) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return EAGAIN;
    default:
      return EACCES;
  }
}

// Which process a thread belongs to, for kernels whose pidfds are those of processes. 0 if unknown.
uint64_t ProcessOf(uint32_t thread) {
  Fd status(open(ShortPath("/proc/", thread, "/status").text(), O_RDONLY | O_CLOEXEC));
  char text[512];  // "Tgid:" is in the third or fourth line
  ssize_t size = status.valid() ? RetryEintr([&] { return read(status.get(), text, sizeof text - 1); }) : -1;
  if (size <= 0) return 0;
  text[size] = '\0';
  // The first line is the program's name, in which the kernel escapes newlines.
  const char* at = strstr(text, "\nTgid:\t");
  uint64_t number = 0;
  if (at == nullptr) return 0;
  at += sizeof "\nTgid:\t" - 1;
  return ReadNumber(&at, &number) ? number : 0;
}

int OpenPidfd(uint64_t pid, unsigned flags) {
  return static_cast<int>(syscall(uapi::kSysPidfdOpen, static_cast<pid_t>(pid), flags));
}

// Before 6.9 there are pidfds of processes only. Their descriptors are the leader's: a thread that has a
// table of its own (CLONE_FILES not shared) then gets its leader's descriptor or EBADF, which is odd but
// checked like any other.
Fd OpenThread(uint32_t thread) {
  Fd pidfd(OpenPidfd(thread, uapi::kPidfdThread));
  if (pidfd.valid() || errno != EINVAL) return pidfd;
  uint64_t process = ProcessOf(thread);
  if (process == 0) errno = ESRCH;
  return process == 0 ? Fd() : Fd(OpenPidfd(process, 0));
}

int OpenDirectoryOf(uint32_t thread, const char* which, Fd* directory) {
  *directory = Fd(open(ShortPath("/proc/", thread, which).text(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return directory->valid() ? 0 : Refusal(errno);
}

}  // namespace

int TakeDescriptor(const uapi::SeccompNotif& request, int number, Fd* copy) {
  Fd pidfd = OpenThread(request.pid);
  if (!pidfd.valid()) return Refusal(errno);
  *copy = Fd(static_cast<int>(syscall(uapi::kSysPidfdGetfd, pidfd.get(), number, 0U)));
  if (copy->valid()) return 0;
  return errno == EBADF ? EBADF : Refusal(errno);
}

int TakeAddress(const uapi::SeccompNotif& request, uint64_t pointer, int length, CallerAddress* address) {
  if (length < 0 || length > kMaxAddress) return EINVAL;
  memset(address, 0, sizeof *address);
  address->length = length;
  if (length == 0) return 0;
  iovec here{address->bytes, static_cast<size_t>(length)};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in another process
  iovec there{reinterpret_cast<void*>(pointer), static_cast<size_t>(length)};
  ssize_t got = process_vm_readv(static_cast<pid_t>(request.pid), &here, 1, &there, 1, 0);
  if (got == length) return 0;
  if (got >= 0) return EFAULT;
  return errno == EFAULT ? EFAULT : Refusal(errno);
}

int TakeRoot(const uapi::SeccompNotif& request, Fd* root) {
  return OpenDirectoryOf(request.pid, "/root", root);
}

int TakeWorkingDirectory(const uapi::SeccompNotif& request, Fd* directory) {
  return OpenDirectoryOf(request.pid, "/cwd", directory);
}

bool StillWaiting(int listener, uint64_t id) {
  if (syscall(SYS_ioctl, listener, uapi::kSeccompNotifIdValid, &id) == 0) return true;
  if (errno != EINVAL) return false;
  return syscall(SYS_ioctl, listener, uapi::kSeccompNotifIdValidWrongDirection, &id) == 0;
}

}  // namespace spty
