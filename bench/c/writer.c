// The ceiling for input: a C program that writes to a raw-mode reader, in blocks of the given
// size (0: everything in one call to begin with), waiting in poll when the kernel is full.
// usage: writer sink-program bytes block
#include "pty_common.h"

#include <poll.h>

// Reads until `mark` has come; the terminal's echo of earlier input is skipped.
static void await_mark(int master, char mark) {
  char c;
  for (;;) {
    struct pollfd p = {.fd = master, .events = POLLIN};
    if (poll(&p, 1, 30000) <= 0) die("poll");
    ssize_t n = read(master, &c, 1);
    if (n == 1 && c == mark) return;
    if (n <= 0 && errno != EAGAIN) die("read");
  }
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  size_t total = strtoull(argv[2], NULL, 10), block = strtoull(argv[3], NULL, 10);
  if (block == 0) block = total;
  int master;
  pid_t pid = fork_session(&master);
  if (pid == 0) {
    execl(argv[1], argv[1], argv[2], (char*)NULL);
    _exit(127);
  }
  char* data = malloc(total);
  memset(data, 'a', total);
  fcntl(master, F_SETFL, O_RDWR | O_NONBLOCK);
  await_mark(master, 'R');
  double cpu0 = cpu_s(), t0 = now_s();
  uint64_t calls = 0;
  for (size_t sent = 0; sent < total;) {
    size_t want = total - sent < block ? total - sent : block;
    ssize_t n = write(master, data + sent, want);
    calls++;
    if (n > 0) {
      sent += (size_t)n;
    } else if (n < 0 && errno == EAGAIN) {
      struct pollfd p = {.fd = master, .events = POLLOUT};
      poll(&p, 1, 30000);
    } else if (errno != EINTR) {
      die("write");
    }
  }
  await_mark(master, 'D');
  double seconds = now_s() - t0, cpu = cpu_s() - cpu0;
  end_session(pid, master);
  printf("{\"mbps\":%.2f,\"cpu_s_per_gb\":%.3f,\"writes\":%llu}\n", (double)total / 1e6 / seconds,
         cpu / ((double)total / 1e9), (unsigned long long)calls);
  return 0;
}
