// The ceiling for the echo round trip (write, raw cat, read) and for kill-to-exit.
// usage: echo round-trip bytes count gap-ms | echo kill count
#include "pty_common.h"

static void pause_ms(long ms) {
  struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
  if (ms > 0) nanosleep(&t, NULL);
}

static pid_t start_shell(const char* script, int* master) {
  pid_t pid = fork_session(master);
  if (pid == 0) {
    execl("/bin/sh", "sh", "-c", script, (char*)NULL);
    _exit(127);
  }
  char c = 0;
  while (c != 'R')
    if (read(*master, &c, 1) != 1) die("read");
  pause_ms(20);
  return pid;
}

static void read_all(int fd, char* buffer, size_t size) {
  for (size_t got = 0; got < size;) {
    ssize_t n = read(fd, buffer + got, size - got);
    if (n <= 0) die("read");
    got += (size_t)n;
  }
}

static void round_trip(size_t size, int count, long gap, double* took) {
  int master;
  pid_t pid = start_shell("stty raw -echo; printf R; exec cat", &master);
  char buffer[4096];
  memset(buffer, 'a', sizeof buffer);
  for (int i = 0; i < count; i++) {
    pause_ms(gap);
    double t0 = now_s();
    if (write(master, buffer, size) != (ssize_t)size) die("write");
    read_all(master, buffer, size);
    took[i] = (now_s() - t0) * 1e3;
  }
  end_session(pid, master);
}

static void kill_to_exit(int count, double* took) {
  for (int i = 0; i < count; i++) {
    int master;
    pid_t pid = start_shell("printf R; exec sleep 100", &master);
    double t0 = now_s();
    kill(pid, SIGKILL);
    char c;
    while (read(master, &c, 1) > 0) continue;
    waitpid(pid, NULL, 0);
    took[i] = (now_s() - t0) * 1e3;
    close(master);
  }
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  int trip = strcmp(argv[1], "round-trip") == 0;
  if (trip && argc < 5) return 2;
  int count = atoi(argv[trip ? 3 : 2]);
  size_t size = trip ? strtoul(argv[2], NULL, 10) : 0;
  if (count < 1 || size > 4096) return 2;
  double* took = calloc((size_t)count, sizeof *took);
  if (trip) {
    round_trip(size, count, atol(argv[4]), took);
  } else {
    kill_to_exit(count, took);
  }
  double p50 = percentile(took, (size_t)count, 0.5), p95 = percentile(took, (size_t)count, 0.95);
  printf("{\"p50_ms\":%.4f,\"p95_ms\":%.4f}\n", p50, p95);
  return 0;
}
