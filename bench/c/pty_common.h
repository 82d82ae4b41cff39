// What the C programs of the benchmark share: a PTY pair with the terminal settings that a
// freshly spawned session has, clocks, CPU time, percentiles, and the producers of output.
#ifndef BENCH_PTY_COMMON_H_
#define BENCH_PTY_COMMON_H_

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))

static UNUSED void die(const char* what) {
  perror(what);
  exit(1);
}

static UNUSED double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static UNUSED double cpu_s(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static UNUSED int compare_doubles(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// Sorts `v` in place.
static UNUSED double percentile(double* v, size_t n, double p) {
  if (n == 0) return 0;
  qsort(v, n, sizeof *v, compare_doubles);
  size_t i = (size_t)(p * (double)(n - 1) + 0.5);
  return v[i];
}

// The settings of a new session, so that output processing (ONLCR) costs the same everywhere.
static UNUSED struct termios session_termios(void) {
  struct termios t = {0};
  t.c_iflag = ICRNL | IXON | IXANY | IMAXBEL | BRKINT | IUTF8;
  t.c_oflag = OPOST | ONLCR;
  t.c_cflag = CREAD | CS8 | HUPCL;
  t.c_lflag = ICANON | ISIG | IEXTEN | ECHO | ECHOE | ECHOK | ECHOKE | ECHOCTL;
  t.c_cc[VEOF] = 4;
  t.c_cc[VINTR] = 3;
  t.c_cc[VERASE] = 0x7f;
  t.c_cc[VKILL] = 21;
  t.c_cc[VMIN] = 1;
  cfsetispeed(&t, B38400);
  cfsetospeed(&t, B38400);
  return t;
}

// Forks with the slave as terminal and stdio; 0 in the child, which dies with the caller.
static UNUSED pid_t fork_session(int* master) {
  struct termios t = session_termios();
  struct winsize w = {.ws_row = 24, .ws_col = 80};
  pid_t parent = getpid();
  pid_t pid = forkpty(master, NULL, &t, &w);
  if (pid < 0) die("forkpty");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
  } else {
    fcntl(*master, F_SETFD, FD_CLOEXEC);
  }
  return pid;
}

static UNUSED void end_session(pid_t pid, int master) {
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  close(master);
}

// Writes for ever, or until `limit` bytes (0: no limit), in blocks: `plain` is 64 KiB without a
// newline, `lines` is 4 KiB of 80-character lines, `yes` is what yes(1) writes.
static UNUSED void produce(const char* workload, uint64_t limit) {
  static char block[65536];
  size_t size = sizeof block;
  if (strcmp(workload, "plain") == 0) {
    memset(block, 'x', size);
  } else if (strcmp(workload, "lines") == 0) {
    size = 4096;
    for (size_t i = 0; i < size; i++) block[i] = (i % 81 == 80) ? '\n' : (char)('a' + i % 26);
  } else {
    size = 8192;
    for (size_t i = 0; i < size; i++) block[i] = (i % 2) ? '\n' : 'y';
  }
  for (uint64_t sent = 0; limit == 0 || sent < limit;) {
    size_t want = limit && limit - sent < size ? (size_t)(limit - sent) : size;
    ssize_t n = write(1, block, want);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(1);
    sent += (uint64_t)n;
  }
}

#endif  // BENCH_PTY_COMMON_H_
