// Many processes, and the ceiling for ending them: one write to cgroup.kill, and waiting until all are reaped.
//   crowd run idle|hoppers n           starts them, prints R and waits
//   crowd kill idle|hoppers n count    starts them in a cgroup and ends them, `count` times; prints the times as JSON
//   crowd list idle n count            starts them and reads what a list of processes needs of each, `count` times
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kLongestLife = 60, kMostTimes = 1000, kMostProcesses = 10000 };

static void die(const char* what) {
  perror(what);
  exit(1);
}

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

// A new process every moment, never the same for longer.
static void hop(int say) {
  const time_t last = time(NULL) + kLongestLife;
  for (int first = 1; time(NULL) < last; first = 0) {
    pid_t next = fork();
    if (next > 0) _exit(0);
    if (first && write(say, "r", 1) != 1) _exit(1);
    usleep(1000);
  }
  _exit(0);
}

static pid_t started[kMostProcesses];

static void start(const char* kind, int n) {
  int ready[2];
  if (pipe(ready) != 0) die("pipe");
  int hopping = strcmp(kind, "hoppers") == 0;
  for (int i = 0; i < n; ++i) {
    pid_t child = fork();
    if (child < 0) die("fork");
    if (child > 0) {
      started[i] = child;
      continue;
    }
    if (hopping) hop(ready[1]);
    if (write(ready[1], "r", 1) != 1) _exit(1);
    sleep(kLongestLife);
    _exit(0);
  }
  char byte;
  for (int i = 0; i < n; ++i) {
    if (read(ready[0], &byte, 1) != 1) die("read");
  }
}

// Below the cgroup of this process.
static void make_cgroup(char* path, size_t size) {
  char line[4096], mount[4096] = "", own[4096] = "";
  FILE* mounts = fopen("/proc/self/mountinfo", "r");
  while (mounts && fgets(line, sizeof line, mounts)) {
    if (strstr(line, " - cgroup2 ")) sscanf(line, "%*s %*s %*s %*s %4095s", mount);
  }
  FILE* groups = fopen("/proc/self/cgroup", "r");
  while (groups && fgets(line, sizeof line, groups)) {
    if (strncmp(line, "0::", 3) == 0) sscanf(line + 3, "%4095s", own);
  }
  if (mounts) fclose(mounts);
  if (groups) fclose(groups);
  if (snprintf(path, size, "%s%s/bench-crowd-%d", mount, own, getpid()) >= (int)size) die("path");
  if (mkdir(path, 0755) != 0) die(path);
}

static int open_in(const char* cgroup, const char* name, int flags) {
  char path[9000];
  snprintf(path, sizeof path, "%s/%s", cgroup, name);
  int fd = open(path, flags | O_CLOEXEC);
  if (fd < 0) die(path);
  return fd;
}

static double kill_once(const char* cgroup, const char* kind, int n) {
  int procs = open_in(cgroup, "cgroup.procs", O_WRONLY);
  int kill_fd = open_in(cgroup, "cgroup.kill", O_WRONLY);
  int events = open_in(cgroup, "cgroup.events", O_RDONLY);
  int ready[2];
  if (pipe(ready) != 0) die("pipe");
  pid_t leader = fork();
  if (leader == 0) {
    if (write(procs, "0", 1) != 1) die("cgroup.procs");
    start(kind, n);
    if (write(ready[1], "r", 1) != 1) die("write");
    sleep(kLongestLife);
    _exit(0);
  }
  close(ready[1]);
  char text[256];
  if (read(ready[0], text, 1) != 1) die("read");
  usleep(20000);
  double t0 = now_ms();
  if (write(kill_fd, "1", 1) != 1) die("cgroup.kill");
  while (waitpid(-1, NULL, 0) > 0 || errno != ECHILD) {
  }
  do {
    ssize_t size = pread(events, text, sizeof text - 1, 0);
    if (size <= 0) die("cgroup.events");
    text[size] = 0;
  } while (strstr(text, "populated 1"));
  double took = now_ms() - t0;
  close(procs), close(kill_fd), close(events), close(ready[0]);
  return took;
}

static void read_one(const char* format, pid_t pid) {
  char path[64], text[4096];
  snprintf(path, sizeof path, format, pid, pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || read(fd, text, sizeof text) < 0) die(path);
  close(fd);
}

static double list_once(int n) {
  double t0 = now_ms();
  for (int i = 0; i < n; ++i) {
    read_one("/proc/%d/stat", started[i]);
    read_one("/proc/%d/cmdline", started[i]);
    read_one("/proc/%d/task/%d/children", started[i]);
  }
  return now_ms() - t0;
}

static int compare(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  int n = atoi(argv[3]);
  if (n < 1 || n > kMostProcesses) return 2;
  if (strcmp(argv[1], "run") == 0) {
    start(argv[2], n);
    if (write(1, "R", 1) != 1) return 1;
    sleep(kLongestLife);
    return 0;
  }
  static double took[kMostTimes];
  int count = argc > 4 ? atoi(argv[4]) : 1;
  if (count < 1 || count > kMostTimes) return 2;
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) die("prctl");
  // Ended hoppers go at once: left to be reaped after the measurement, they use up all process numbers of a slow machine.
  signal(SIGCHLD, SIG_IGN);
  if (strcmp(argv[1], "list") == 0) {
    start(argv[2], n);
    for (int i = 0; i < count; ++i) took[i] = list_once(n);
    for (int i = 0; i < n; ++i) kill(started[i], SIGKILL);
  } else {
    static char cgroup[8300];
    make_cgroup(cgroup, sizeof cgroup);
    for (int i = 0; i < count; ++i) took[i] = kill_once(cgroup, argv[2], n);
    if (rmdir(cgroup) != 0) die("rmdir");
  }
  double first = took[0];
  qsort(took, (size_t)count, sizeof *took, compare);
  printf("{\"first_ms\": %.4f, \"p50_ms\": %.4f, \"p95_ms\": %.4f}\n", first, took[(count - 1) / 2], took[(count - 1) * 95 / 100]);
  return 0;
}
