// How long connect(2) takes: to a UNIX stream socket in the current directory, and to a TCP one on the loopback.
//   gate_connect <connects>
// The listener accepts in the same thread, outside the measured time. Prints medians in microseconds as JSON.
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { kWarmUps = 50 };

static void Die(const char* what) {
  perror(what);
  exit(1);
}

static double Microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static int Ascending(const void* a, const void* b) {
  double left = *(const double*)a, right = *(const double*)b;
  return (left > right) - (left < right);
}

static int Listen(int family, const struct sockaddr* address, socklen_t length) {
  int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd == -1) Die("socket");
  if (bind(fd, address, length) == -1) Die("bind");
  if (listen(fd, 16) == -1) Die("listen");
  return fd;
}

static double Median(int listener, int family, const struct sockaddr* address, socklen_t length, int count) {
  double* times = malloc(sizeof *times * (size_t)count);
  for (int i = -kWarmUps; i < count; ++i) {
    int client = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client == -1) Die("socket");
    double before = Microseconds();
    if (connect(client, address, length) == -1) Die("connect");
    double after = Microseconds();
    int peer = accept(listener, NULL, NULL);
    if (peer == -1) Die("accept");
    close(peer);
    close(client);
    if (i >= 0) times[i] = after - before;
  }
  qsort(times, (size_t)count, sizeof *times, Ascending);
  double median = times[count / 2];
  free(times);
  return median;
}

int main(int argc, char** argv) {
  int count = argc > 1 ? atoi(argv[1]) : 0;
  if (count < 1) return 2;
  struct sockaddr_un here = {.sun_family = AF_UNIX};
  snprintf(here.sun_path, sizeof here.sun_path, "gate_connect.%d", (int)getpid());
  int local = Listen(AF_UNIX, (struct sockaddr*)&here, sizeof here);
  double unix_us = Median(local, AF_UNIX, (struct sockaddr*)&here, sizeof here, count);
  unlink(here.sun_path);

  struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof loopback;
  int inet = Listen(AF_INET, (struct sockaddr*)&loopback, length);
  if (getsockname(inet, (struct sockaddr*)&loopback, &length) == -1) Die("getsockname");
  double tcp_us = Median(inet, AF_INET, (struct sockaddr*)&loopback, length, count);
  printf("{\"unix_us\": %.2f, \"tcp_us\": %.2f}\n", unix_us, tcp_us);
  return 0;
}
