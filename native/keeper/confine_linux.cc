#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/eintr.h"
#include "keeper/confine.h"
#include "uapi/capability.h"
#include "uapi/landlock.h"
#include "uapi/seccomp.h"

namespace spty {
namespace {

constexpr unsigned kSetModeFilter = 1;
constexpr unsigned kNewListener = 1U << 3;
constexpr unsigned kWaitKillable = 1U << 5;  // Linux 5.19

struct Program {
  unsigned short length;
  const void* filter;
};

struct Capabilities {
  capability::Header header;
  capability::Sets words[2];

  int Get() { return syscall(SYS_capget, &header, words) == -1 ? errno : 0; }
  int Set() { return syscall(SYS_capset, &header, words) == -1 ? errno : 0; }
  bool Empty() const {
    for (const capability::Sets& word : words) {
      if ((word.effective | word.permitted | word.inheritable) != 0) return false;
    }
    return true;
  }
};

// One byte and, if it is not -1, one descriptor.
int SendWithFd(int socket, const void* bytes, size_t size, int fd) {
  iovec part{const_cast<void*>(bytes), size};
  alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = ancillary;
  message.msg_controllen = sizeof ancillary;
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  ssize_t sent = RetryEintr([&] { return sendmsg(socket, &message, MSG_NOSIGNAL); });
  if (sent == -1) return errno;
  return static_cast<size_t>(sent) == size ? 0 : EIO;
}

}  // namespace

int DropBoundingSet() {
  Capabilities own;
  if (int err = own.Get(); err != 0) return err;
  if ((own.words[0].effective & capability::kSetPcap) == 0) return 0;
  for (int number = 0; number <= capability::kLast; ++number) {
    if (prctl(PR_CAPBSET_DROP, number, 0, 0, 0) == 0) continue;
    if (errno == EINVAL && number > 0) break;  // the first one that this kernel does not know
    return errno;
  }
  // Being root gives nothing any more. Not NO_SETUID_FIXUP: the steps that follow count on losing theirs.
  constexpr unsigned long kBits =
      capability::kNoRoot | capability::kKeepCapsLocked | capability::kNoAmbientRaise;
  return prctl(PR_SET_SECUREBITS, kBits, 0, 0, 0) == -1 ? errno : 0;
}

int RefuseNewPrivileges() { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ? errno : 0; }

int GiveUpPrivileges() {
  if (int err = RefuseNewPrivileges(); err != 0) return err;
  // EINVAL: before 4.3 there was no ambient set.
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == -1 && errno != EINVAL) return errno;
  Capabilities none;
  if (int err = none.Set(); err != 0) return err;
  if (int err = none.Get(); err != 0) return err;
  return none.Empty() ? 0 : EPERM;
}

int EnterDomain(int ruleset) { return syscall(landlock::kRestrictSelf, ruleset, 0U) == -1 ? errno : 0; }

int InstallFilter(const void* filter, uint32_t count, int* listener) {
  const Program program{static_cast<unsigned short>(count), filter};
  if (listener == nullptr) return syscall(SYS_seccomp, kSetModeFilter, 0U, &program) == -1 ? errno : 0;
  // A caller whose request was taken is not interrupted by signals that do not kill it: nothing is done
  // twice.
  long fd = syscall(SYS_seccomp, kSetModeFilter, kNewListener | kWaitKillable, &program);
  if (fd == -1 && errno == EINVAL) {
    // Before 5.19. A signal makes connect(2) return EINTR there, as it may without us.
    fd = syscall(SYS_seccomp, kSetModeFilter, kNewListener, &program);
  }
  if (fd == -1) return errno;
  *listener = static_cast<int>(fd);
  return 0;
}

int HandOverListener(int socket, int listener) {
  char byte = 0;
  return SendWithFd(socket, &byte, 1, listener);
}

int ReceiveListener(int socket, Fd* listener) {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = ancillary;
  message.msg_controllen = sizeof ancillary;
  ssize_t got = RetryEintr([&] { return recvmsg(socket, &message, MSG_CMSG_CLOEXEC); });
  if (got == -1) return errno;
  if (got == 0) return ECONNRESET;
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  if (rights == nullptr || rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS ||
      rights->cmsg_len != CMSG_LEN(sizeof(int))) {
    return EPROTO;
  }
  int fd;
  memcpy(&fd, CMSG_DATA(rights), sizeof fd);
  *listener = Fd(fd);
  return 0;
}

}  // namespace spty
