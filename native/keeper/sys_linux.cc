#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/eintr.h"
#include "base/fd.h"
#include "keeper/sys.h"

namespace spty {
namespace {

// Pinned: Debian 11's headers lack them. asm-generic numbers, the same on every architecture since 5.9.
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
constexpr unsigned kCloseRangeCloexec = 1U << 2;

// Applies `action` to each open descriptor >= first, for kernels without close_range (before 5.9; its CLOEXEC
// flag before 5.11). Reads the directory raw, in one buffer: no heap.
template <typename Action>
int ForEachDescriptorFrom(int first, Action action) {
  Fd dir(open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!dir.valid()) return errno;
  struct Entry {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[1];
  };
  alignas(Entry) char buffer[2048];
  // Collected first, since acting on a descriptor changes the directory being read.
  static int found[1024];
  for (;;) {
    size_t count = 0;
    if (lseek(dir.get(), 0, SEEK_SET) == -1) return errno;
    long size;
    while ((size = syscall(SYS_getdents64, dir.get(), buffer, sizeof buffer)) > 0) {
      for (long at = 0; at < size;) {
        auto* entry = reinterpret_cast<Entry*>(buffer + at);
        at += entry->length;
        int fd = atoi(entry->name);
        if (fd >= first && fd != dir.get() && count < sizeof found / sizeof *found) found[count++] = fd;
      }
    }
    if (size == -1) return errno;
    bool progress = false;
    for (size_t i = 0; i < count; ++i) progress |= action(found[i]);
    if (count < sizeof found / sizeof *found || !progress) return 0;
  }
}

bool Unsupported(int err) { return err == ENOSYS || err == EINVAL || err == EPERM; }

}  // namespace

int CloseFrom(int first) {
  if (syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, 0U) == 0) return 0;
  if (!Unsupported(errno)) return errno;
  return ForEachDescriptorFrom(first, [](int fd) {
    Fd owned(fd);
    return true;
  });
}

int MarkCloseOnExecFrom(int first) {
  if (syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, kCloseRangeCloexec) == 0) return 0;
  if (!Unsupported(errno)) return errno;
  int failure = 0;
  int listing = ForEachDescriptorFrom(first, [&failure](int fd) {
    int flags = fcntl(fd, F_GETFD);
    if (flags == -1 || (flags & FD_CLOEXEC) != 0) return false;
    if (fcntl(fd, F_SETFD, flags | FD_CLOEXEC) == -1) failure = errno;
    return true;
  });
  return listing != 0 ? listing : failure;
}

int BecomeSubreaper() { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == -1 ? errno : 0; }

int ResetSignalDispositions() {
  // The kernel's own struct sigaction, all zero: SIG_DFL, no flags, empty mask. Raw, because a C library
  // refuses the numbers that it uses for itself (32 to 34).
  static const uint64_t kDefault[4] = {};
  for (long number = 1; number <= 64; ++number) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    if (syscall(SYS_rt_sigaction, number, kDefault, nullptr, sizeof(uint64_t)) == -1) return errno;
  }
  return 0;
}

bool OutputDiesWithLastClose() { return false; }

int OpenPipe(int ends[2], bool nonblocking) {
  return pipe2(ends, O_CLOEXEC | (nonblocking ? O_NONBLOCK : 0)) == -1 ? errno : 0;
}

pid_t ForkIntoCgroup(int cgroup_dir) {
  // struct clone_args up to the field that we need (Linux 5.7). Without a stack of its own it is a fork.
  struct {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size;
    uint64_t cgroup;
  } args{};
  args.flags = 0x200000000;  // CLONE_INTO_CGROUP
  args.exit_signal = SIGCHLD;
  args.cgroup = static_cast<uint64_t>(cgroup_dir);
  constexpr long kClone3 = 435;
  return static_cast<pid_t>(syscall(kClone3, &args, sizeof args));
}

int JoinCgroup(int cgroup_dir) {
  Fd procs(openat(cgroup_dir, "cgroup.procs", O_WRONLY | O_CLOEXEC));
  if (!procs.valid()) return errno;
  ssize_t written = RetryEintr([&] { return write(procs.get(), "0", 1); });
  if (written == -1) return errno;
  return written == 1 ? 0 : EIO;
}

int OpenSocketPair(int ends[2]) {
  return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == -1 ? errno : 0;
}

bool OtherEndIsDone(int socket) {
  pollfd watched{socket, POLLRDHUP, 0};
  return poll(&watched, 1, 0) > 0;
}

}  // namespace spty
