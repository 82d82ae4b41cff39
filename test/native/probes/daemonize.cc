// Leaves a process behind that has done all it can to get away: forked twice, in a session of its own,
// without the terminal, deaf to every signal that can be ignored. Prints its number.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>

int main() {
  int ends[2];
  if (pipe(ends) == -1) return 1;
  if (fork() == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    for (int number = 1; number < NSIG; ++number) signal(number, SIG_IGN);
    pid_t self = getpid();
    if (write(ends[1], &self, sizeof self) != sizeof self) _exit(1);
    for (int fd = 0; fd < 64; ++fd) close(fd);
    for (;;) pause();
  }
  pid_t daemon = 0;
  if (read(ends[0], &daemon, sizeof daemon) != sizeof daemon) return 1;
  printf("daemon %d\n", daemon);
  return 0;
}
