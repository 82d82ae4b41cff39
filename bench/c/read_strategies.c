// An experiment: in which way should one thread read a PTY master while the child writes as fast
// as it can? The kernel hands out at most 4095 bytes per read, and wakes the reader far more often
// than that when the child writes short lines, so the way of waiting decides the reader's CPU.
//
// usage: read_strategies [seconds per measurement] [rounds] [workload]
#include "pty_common.h"

#include <sched.h>
#include <sys/epoll.h>

enum { kChunk = 65536 };

struct counters {
  uint64_t bytes, reads, wakes;
};

struct strategy {
  const char* name;
  void (*run)(int fd, double until, const struct strategy* self, struct counters* c);
  int us;     // pause between batches
  int limit;  // bytes after which a batch ends
};

static char buffer[kChunk];

static int open_epoll(int fd, uint32_t events) {
  int ep = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event ev = {.events = events, .data.fd = fd};
  if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev) < 0) die("epoll");
  return ep;
}

static void nonblocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

static void pause_us(int us) {
  struct timespec t = {.tv_nsec = us * 1000L};
  nanosleep(&t, NULL);
}

static ssize_t read_once(int fd, size_t at, struct counters* c) {
  ssize_t n = read(fd, buffer + at, kChunk - at);
  c->reads++;
  if (n > 0) c->bytes += (uint64_t)n;
  return n;
}

// Reads until nothing is left, or the batch is full. Returns the size of the batch.
static size_t read_batch(int fd, size_t limit, struct counters* c) {
  size_t got = 0;
  while (got < limit) {
    ssize_t n = read_once(fd, got, c);
    if (n <= 0) break;
    got += (size_t)n;
  }
  return got;
}

static void run_blocking(int fd, double until, const struct strategy* s, struct counters* c) {
  (void)s;
  while (now_s() < until) read_once(fd, 0, c);
  c->wakes = c->reads;
}

static void run_level(int fd, double until, const struct strategy* s, struct counters* c) {
  (void)s;
  nonblocking(fd);
  int ep = open_epoll(fd, EPOLLIN);
  struct epoll_event ev;
  while (now_s() < until) {
    if (epoll_wait(ep, &ev, 1, 100) > 0) c->wakes++, read_once(fd, 0, c);
  }
  close(ep);
}

static void run_edge(int fd, double until, const struct strategy* s, struct counters* c) {
  nonblocking(fd);
  int ep = open_epoll(fd, EPOLLIN | EPOLLET);
  struct epoll_event ev;
  while (now_s() < until) {
    if (epoll_wait(ep, &ev, 1, 100) <= 0) continue;
    c->wakes++;
    while (read_batch(fd, (size_t)s->limit, c) == (size_t)s->limit && now_s() < until) continue;
  }
  close(ep);
}

// Wait for readiness, read until EAGAIN or the limit, then leave the kernel alone for a while.
static void run_paced(int fd, double until, const struct strategy* s, struct counters* c) {
  nonblocking(fd);
  int ep = open_epoll(fd, EPOLLIN);
  struct epoll_event ev;
  while (now_s() < until) {
    if (epoll_wait(ep, &ev, 1, 100) <= 0) continue;
    c->wakes++;
    size_t got = read_batch(fd, (size_t)s->limit, c);
    if (got < (size_t)s->limit) pause_us(s->us);
  }
  close(ep);
}

// One read per pause, never asking for EAGAIN: a read shorter than 4095 has emptied the buffer.
static void run_short(int fd, double until, const struct strategy* s, struct counters* c) {
  nonblocking(fd);
  int ep = open_epoll(fd, EPOLLIN);
  struct epoll_event ev;
  while (now_s() < until) {
    if (epoll_wait(ep, &ev, 1, 100) <= 0) continue;
    c->wakes++;
    size_t got = 0;
    while (got + 4096 <= kChunk) {
      ssize_t n = read_once(fd, got, c);
      if (n <= 0) break;
      got += (size_t)n;
      if (n < 4095) break;
    }
    if (got + 4096 <= kChunk && s->us > 0) pause_us(s->us);
  }
  close(ep);
}

// The pause follows the flow: it grows while batches are small and shrinks when the kernel's
// buffer (8 KiB, plus 4 KiB in the line discipline) has filled meanwhile and the child waits.
static void run_adaptive(int fd, double until, const struct strategy* s, struct counters* c) {
  nonblocking(fd);
  int ep = open_epoll(fd, EPOLLIN);
  struct epoll_event ev;
  int us = 0;
  while (now_s() < until) {
    if (epoll_wait(ep, &ev, 1, 100) <= 0) continue;
    c->wakes++;
    size_t got = read_batch(fd, kChunk - 4096, c);
    if (got > (size_t)s->limit) {
      us /= 2;
    } else if (got < (size_t)s->limit / 2) {
      us = us ? us * 2 : 50;
      if (us > s->us) us = s->us;
    }
    if (us >= 50) pause_us(us);
  }
  close(ep);
}

// The pause follows the measured rate: long enough for `limit` bytes to gather, and none at all
// when that takes less than 150 us, because then a timer costs more than it saves.
static void run_rate(int fd, double until, const struct strategy* s, struct counters* c) {
  nonblocking(fd);
  int ep = open_epoll(fd, EPOLLIN);
  struct epoll_event ev;
  double rate = 0, last = now_s();  // bytes per microsecond
  while (now_s() < until) {
    if (epoll_wait(ep, &ev, 1, 100) <= 0) continue;
    c->wakes++;
    size_t got = read_batch(fd, kChunk - 4096, c);
    double now = now_s(), us = (now - last) * 1e6;
    last = now;
    rate += ((double)got / (us + 1) - rate) / 8;
    double wait = rate > 0 ? s->limit / rate : 0;
    if (wait > s->us) wait = s->us;
    if (wait >= 150 && got < kChunk - 4096) pause_us((int)wait);
  }
  close(ep);
}

static void run_yield(int fd, double until, const struct strategy* s, struct counters* c) {
  (void)s;
  nonblocking(fd);
  while (now_s() < until) {
    c->wakes++;
    if (read_batch(fd, kChunk, c) == 0) sched_yield();
  }
}

// Busy for a while after each read, as a reader in JavaScript is: the kernel's worker fills its 4 KiB
// meanwhile, and nobody has to sleep and be woken.
static void run_busy(int fd, double until, const struct strategy* s, struct counters* c) {
  while (now_s() < until) {
    read_once(fd, 0, c);
    for (double end = now_s() + s->us * 1e-6; now_s() < end;) continue;
  }
  c->wakes = c->reads;
}

static const struct strategy kStrategies[] = {
    {"blocking read", run_blocking, 0, 0},
    {"epoll level, one read", run_level, 0, 0},
    {"epoll edge, until EAGAIN", run_edge, 0, kChunk},
    {"until EAGAIN + 100 us", run_paced, 100, kChunk},
    {"until EAGAIN + 250 us", run_paced, 250, kChunk},
    {"until EAGAIN + 500 us", run_paced, 500, kChunk},
    {"until EAGAIN + 1000 us", run_paced, 1000, kChunk},
    {"until short read", run_short, 0, 0},
    {"until short read + 100 us", run_short, 100, 0},
    {"until short read + 250 us", run_short, 250, 0},
    {"until short read + 500 us", run_short, 500, 0},
    {"until short read + 1000 us", run_short, 1000, 0},
    {"adaptive <= 500 us, 4 KiB", run_adaptive, 500, 4096},
    {"adaptive <= 1000 us, 4 KiB", run_adaptive, 1000, 4096},
    {"rate-paced <= 500 us, 4 KiB", run_rate, 500, 4096},
    {"rate-paced <= 1000 us, 6 KiB", run_rate, 1000, 6144},
    {"spin with sched_yield", run_yield, 0, 0},
    {"blocking read, busy 10 us", run_busy, 10, 0},
    {"blocking read, busy 20 us", run_busy, 20, 0},
};
enum { kStrategyCount = sizeof kStrategies / sizeof *kStrategies, kMaxRounds = 64 };

static double speed[kStrategyCount][kMaxRounds], cpu[kStrategyCount][kMaxRounds];
static double reads[kStrategyCount][kMaxRounds], wakes[kStrategyCount][kMaxRounds];

static void measure(int which, const char* workload, double seconds, int round) {
  int master;
  pid_t pid = fork_session(&master);
  if (pid == 0) produce(workload, 0);
  struct counters warm = {0}, c = {0};
  const struct strategy* s = &kStrategies[which];
  s->run(master, now_s() + 0.05, s, &warm);
  double cpu0 = cpu_s(), t0 = now_s();
  s->run(master, t0 + seconds, s, &c);
  double gb = (double)c.bytes / 1e9;
  speed[which][round] = gb * 1e3 / (now_s() - t0);
  cpu[which][round] = (cpu_s() - cpu0) / gb;
  reads[which][round] = (double)c.reads / gb;
  wakes[which][round] = (double)c.wakes / gb;
  end_session(pid, master);
}

int main(int argc, char** argv) {
  static const char* const kWorkloads[] = {"plain", "yes", "lines"};
  double seconds = argc > 1 ? atof(argv[1]) : 0.5;
  int rounds = argc > 2 ? atoi(argv[2]) : 5;
  if (rounds < 1 || rounds > kMaxRounds) rounds = 5;
  signal(SIGHUP, SIG_IGN);
  prctl(PR_SET_TIMERSLACK, 1);
  for (size_t w = 0; w < 3; w++) {
    if (argc > 3 && strcmp(argv[3], kWorkloads[w]) != 0) continue;
    for (int r = 0; r < rounds; r++) {
      for (int i = 0; i < kStrategyCount; i++)
        measure(r % 2 ? kStrategyCount - 1 - i : i, kWorkloads[w], seconds, r);
    }
    printf("%-30s %8s %10s %12s %12s\n", kWorkloads[w], "MB/s", "CPU s/GB", "reads/GB", "wakes/GB");
    for (int i = 0; i < kStrategyCount; i++) {
      size_t n = (size_t)rounds;
      printf("  %-28s %8.1f %10.2f %12.0f %12.0f\n", kStrategies[i].name, percentile(speed[i], n, 0.5),
             percentile(cpu[i], n, 0.5), percentile(reads[i], n, 0.5), percentile(wakes[i], n, 0.5));
    }
    fflush(stdout);
  }
  return 0;
}
