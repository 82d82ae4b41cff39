// Prints what a program finds when it starts: descriptors, signals, identity, terminal, place, arguments.
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace {

void PrintDescriptors() {
  printf("descriptors=");
  for (int fd = 0; fd < 1024; ++fd) {
    if (fcntl(fd, F_GETFD) != -1) printf("%d,", fd);
  }
  printf("\n");
}

void PrintSignals() {
  sigset_t mask;
  sigprocmask(SIG_BLOCK, nullptr, &mask);
  printf("blocked=");
  for (int number = 1; number < NSIG; ++number) {
    if (sigismember(&mask, number) == 1) printf("%d,", number);
  }
  printf("\nnot-default=");
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_DFL) printf("%d,", number);
  }
  printf("\n");
}

void PrintIdentity() {
  printf("uids=%u,%u\ngids=%u,%u\ngroups=", getuid(), geteuid(), getgid(), getegid());
  gid_t groups[256];
  int count = getgroups(256, groups);
  for (int i = 0; i < count; ++i) printf("%u,", groups[i]);
  // What a saved id would give back; it cannot be read everywhere.
  printf("\nregains-uid-0=%d\nregains-gid-0=%d\n", seteuid(0) == 0, setegid(0) == 0);
}

void PrintTerminal() {
  winsize size{};
  ioctl(0, TIOCGWINSZ, &size);
  printf("leader=%d\n", getsid(0) == getpid() && getpgrp() == getpid() && tcgetpgrp(0) == getpid());
  printf("controlling=%d\n", open("/dev/tty", O_RDWR | O_CLOEXEC) != -1);
  printf("terminal=%s\nsize=%ux%u\n", ttyname(0), size.ws_col, size.ws_row);
}

}  // namespace

int main(int argc, char** argv, char** env) {
  PrintDescriptors();
  PrintSignals();
  PrintIdentity();
  PrintTerminal();
  char directory[4096];
  printf("cwd=%s\n", getcwd(directory, sizeof directory) == nullptr ? "?" : directory);
  for (int i = 0; i < argc; ++i) printf("argv%d=%s\n", i, argv[i]);
  for (int i = 0; env[i] != nullptr; ++i) printf("env%d=%s\n", i, env[i]);
  printf("done\n");
  return 0;
}
