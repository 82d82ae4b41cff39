#include <errno.h>
#include <fcntl.h>
#include <libproc.h>
#include <signal.h>
#include <sys/proc_info.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/socket.h"
#include "keeper/sys.h"

namespace spty {
namespace {

constexpr int kMostDescriptors = 4096;

// Applies `action` to each open descriptor >= first. It answers 0 or an errno, which ends the walk.
template <typename Action>
int ForEachDescriptorFrom(int first, Action action) {
  static proc_fdinfo found[kMostDescriptors];
  const int size = proc_pidinfo(getpid(), PROC_PIDLISTFDS, 0, found, sizeof found);
  if (size <= 0) return errno != 0 ? errno : EIO;
  // A full table may be a part of a larger one, and a descriptor that we do not see stays open.
  if (size == static_cast<int>(sizeof found)) return EMFILE;
  for (int i = 0; i < size / static_cast<int>(sizeof(proc_fdinfo)); ++i) {
    if (found[i].proc_fd < first) continue;
    if (int err = action(found[i].proc_fd); err != 0) return err;
  }
  return 0;
}

int SetFlag(int fd, int get, int set, int flag) {
  const int flags = fcntl(fd, get);
  if (flags == -1 || fcntl(fd, set, flags | flag) == -1) return errno;
  return 0;
}

}  // namespace

int CloseFrom(int first) {
  return ForEachDescriptorFrom(first, [](int fd) {
    Fd owned(fd);
    return 0;
  });
}

int MarkCloseOnExecFrom(int first) {
  return ForEachDescriptorFrom(first, [](int fd) { return SetFlag(fd, F_GETFD, F_SETFD, FD_CLOEXEC); });
}

// Orphans go to launchd; the session's mark finds them there.
int BecomeSubreaper() { return 0; }

int ResetSignalDispositions() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    if (sigaction(number, &action, nullptr) == -1) return errno;
  }
  return 0;
}

bool OutputDiesWithLastClose() { return true; }

// Not atomic, as there is no pipe2: nobody else forks in this process.
int OpenPipe(int ends[2], bool nonblocking) {
  if (pipe(ends) == -1) return errno;
  for (int i = 0; i < 2; ++i) {
    int err = SetFlag(ends[i], F_GETFD, F_SETFD, FD_CLOEXEC);
    if (err == 0 && nonblocking) err = SetFlag(ends[i], F_GETFL, F_SETFL, O_NONBLOCK);
    if (err == 0) continue;
    Fd first(ends[0]);
    Fd second(ends[1]);
    return err;
  }
  return 0;
}

pid_t ForkIntoCgroup(int) {
  errno = ENOTSUP;
  return -1;
}

int JoinCgroup(int) { return ENOTSUP; }

int OpenSocketPair(int ends[2]) { return OpenStreamPair(ends); }

bool OtherEndIsDone(int socket) {
  char next;
  return recv(socket, &next, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

}  // namespace spty
