// The ceiling for output: a C program that reads sessions and does nothing with the bytes.
// `blocking` has one thread per session; `epoll` one thread for all, which reads until EAGAIN.
// usage: reader blocking|epoll plain|yes|lines sessions milliseconds
#include "pty_common.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>

enum { kMaxSessions = 64, kChunk = 65536 };

static int masters[kMaxSessions];
static pid_t pids[kMaxSessions];
static atomic_ullong bytes, reads;
static atomic_bool stop;

static void count(ssize_t n) {
  atomic_fetch_add_explicit(&reads, 1, memory_order_relaxed);
  if (n > 0) atomic_fetch_add_explicit(&bytes, (unsigned long long)n, memory_order_relaxed);
}

static void* read_blocking(void* arg) {
  int fd = *(int*)arg;
  char* buffer = malloc(kChunk);
  while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
    ssize_t n = read(fd, buffer, kChunk);
    count(n);
    if (n <= 0 && errno != EINTR) break;
  }
  free(buffer);
  return NULL;
}

static void* read_epoll(void* arg) {
  int sessions = *(int*)arg;
  char* buffer = malloc(kChunk);
  int ep = epoll_create1(EPOLL_CLOEXEC);
  for (int i = 0; i < sessions; i++) {
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = masters[i]};
    fcntl(masters[i], F_SETFL, O_RDWR | O_NONBLOCK);
    if (epoll_ctl(ep, EPOLL_CTL_ADD, masters[i], &ev) < 0) die("epoll_ctl");
  }
  struct epoll_event ready[kMaxSessions];
  while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
    int n = epoll_wait(ep, ready, kMaxSessions, 100);
    for (int i = 0; i < n; i++) {
      for (size_t got = 0; got + 4096 <= kChunk;) {
        ssize_t r = read(ready[i].data.fd, buffer + got, kChunk - got);
        count(r);
        if (r <= 0) break;
        got += (size_t)r;
      }
    }
  }
  close(ep);
  free(buffer);
  return NULL;
}

static void pause_ms(long ms) {
  struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
  while (nanosleep(&t, &t) < 0 && errno == EINTR) continue;
}

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  int epoll = strcmp(argv[1], "epoll") == 0;
  int sessions = atoi(argv[3]);
  if (sessions < 1 || sessions > kMaxSessions) return 2;
  signal(SIGHUP, SIG_IGN);
  for (int i = 0; i < sessions; i++) {
    pids[i] = fork_session(&masters[i]);
    if (pids[i] == 0) signal(SIGHUP, SIG_DFL), produce(argv[2], 0);
  }
  pthread_t threads[kMaxSessions];
  int started = epoll ? 1 : sessions;
  for (int i = 0; i < started; i++) {
    void* arg = epoll ? (void*)&sessions : (void*)&masters[i];
    if (pthread_create(&threads[i], NULL, epoll ? read_epoll : read_blocking, arg)) die("thread");
  }
  pause_ms(50);
  unsigned long long bytes0 = bytes, reads0 = reads;
  double cpu0 = cpu_s(), t0 = now_s();
  pause_ms(atol(argv[4]));
  double seconds = now_s() - t0, cpu = cpu_s() - cpu0;
  double gb = (double)(bytes - bytes0) / 1e9, count_of_reads = (double)(reads - reads0);
  atomic_store(&stop, 1);
  for (int i = 0; i < sessions; i++) kill(pids[i], SIGKILL), waitpid(pids[i], NULL, 0);
  for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
  printf("{\"mbps\":%.2f,\"cpu_s_per_gb\":%.3f,\"reads_per_gb\":%.0f}\n", gb * 1e3 / seconds, cpu / gb,
         count_of_reads / gb);
  return 0;
}
