// What a connect costs: to a UNIX socket of its own and to a TCP socket on the loopback interface. Run it
// inside a session with the connect gate and outside of any, and compare.
// usage: gate_connect directory rounds
// prints: <unix|tcp> <p50> <p95> <p99>, in microseconds
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static void die(const char* what) {
  fprintf(stderr, "gate_connect: %s: %s\n", what, strerror(errno));
  exit(1);
}

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int ascending(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void measure(const char* name, int domain, struct sockaddr* address, socklen_t size, int rounds) {
  int server = socket(domain, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (server == -1 || bind(server, address, size) == -1) die("bind");
  if (listen(server, 16) == -1) die("listen");
  if (getsockname(server, address, &size) == -1) die("getsockname");
  double* took = malloc((size_t)rounds * sizeof *took);
  if (took == NULL) die("malloc");
  for (int i = 0; i < rounds; ++i) {
    int client = socket(domain, SOCK_STREAM | SOCK_CLOEXEC, 0);
    double start = now_us();
    if (connect(client, address, size) == -1) die("connect");
    took[i] = now_us() - start;
    int accepted = accept(server, NULL, NULL);
    if (accepted == -1) die("accept");
    // A reset instead of TIME_WAIT: there are not enough ports for many rounds.
    struct linger reset = {1, 0};
    setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(client);
    close(accepted);
  }
  close(server);
  qsort(took, (size_t)rounds, sizeof *took, ascending);
  printf("%s %.1f %.1f %.1f\n", name, took[rounds / 2], took[rounds * 95 / 100], took[rounds * 99 / 100]);
  free(took);
}

int main(int argc, char** argv) {
  if (argc < 3 || atoi(argv[2]) < 1) return 2;
  struct sockaddr_un path = {.sun_family = AF_UNIX};
  int length = snprintf(path.sun_path, sizeof path.sun_path, "%s/gate-%d", argv[1], (int)getpid());
  if (length < 0 || (size_t)length >= sizeof path.sun_path) return 2;
  char name[sizeof path.sun_path];
  memcpy(name, path.sun_path, sizeof name);
  measure("unix", AF_UNIX, (struct sockaddr*)&path, sizeof path, atoi(argv[2]));
  unlink(name);
  struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  measure("tcp", AF_INET, (struct sockaddr*)&loopback, sizeof loopback, atoi(argv[2]));
  return 0;
}
