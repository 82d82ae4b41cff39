#include "pty/host_terminal.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "base/eintr.h"

namespace spty {
namespace {

// A background process that changes its terminal is stopped (SIGTTOU), unless it blocks that.
Result<void> SetLine(int fd, const termios& line) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const int status = RetryEintr([&] { return tcsetattr(fd, TCSADRAIN, &line); });
  const int err = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return status == 0 ? Result<void>() : Error{Stage::kPty, err, "tcsetattr"};
}

}  // namespace

Result<termios> MakeRaw(int fd) {
  termios line{};
  if (tcgetattr(fd, &line) != 0) return Error{Stage::kPty, errno, "tcgetattr"};
  termios raw = line;
  cfmakeraw(&raw);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  TRY(SetLine(fd, raw));
  return line;
}

Result<void> RestoreLine(int fd, const termios& line) { return SetLine(fd, line); }

bool InForeground(int fd) {
  const pid_t group = tcgetpgrp(fd);
  return group == -1 || group == getpgrp();
}

KeySignals ReadKeySignals(int master) {
  KeySignals keys;
  termios line{};
  if (tcgetattr(master, &line) != 0) return keys;
  if ((line.c_lflag & ISIG) != 0 && line.c_cc[VSUSP] != _POSIX_VDISABLE) keys.suspend = line.c_cc[VSUSP];
  keys.foreground = tcgetpgrp(master);
  return keys;
}

void EndBySignal(int number) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(number, &action, nullptr);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  raise(number);
}

}  // namespace spty
