// Programs that turn against the keeper of their session, which runs as the same user.
//   keeper_attacker <way> <token>
// The token only marks the command lines. Waits for a line; the leader prints "ready" when it is done. Nothing here lives longer than a
// minute.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t keeper;

static void Require(const char* what, long result) {
  if (result == 0) return;
  printf("%s: %s\n", what, strerrorname_np(errno));
  _exit(1);
}

// A tracer that never asks for anything keeps the end of what it traces from the parent.
static void TraceAndKill(void) {
  Require("trace", ptrace(PTRACE_SEIZE, keeper, 0, 0));
  Require("kill", kill(keeper, SIGKILL));
}

static void Trace(void) {
  Require("trace", ptrace(PTRACE_SEIZE, keeper, 0, 0));
  Require("interrupt", ptrace(PTRACE_INTERRUPT, keeper, 0, 0));
}

static void Stop(void) { Require("stop", kill(keeper, SIGSTOP)); }

static void Nothing(void) {}

static const struct {
  const char* name;
  void (*once)(void);
  void (*again)(void);
} ways[] = {
    {"trace-and-kill", TraceAndKill, Nothing},
    {"trace", Trace, Nothing},
    {"stop", Stop, Nothing},
    {"stop-again-and-again", Stop, Stop},
};

int main(int argc, char** argv) {
  int done[2];
  if (argc < 3 || pipe(done) != 0) return 2;
  keeper = getppid();
  setvbuf(stdout, NULL, _IONBF, 0);
  // Not before the host has heard of us.
  char line[16];
  if (fgets(line, sizeof line, stdin) == NULL) return 3;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
    if (strcmp(ways[i].name, argv[1]) != 0) continue;
    if (fork() == 0) {
      setsid();
      signal(SIGHUP, SIG_IGN);
      ways[i].once();
      if (write(done[1], "d", 1) != 1) _exit(1);
      for (const time_t last = time(NULL) + 60; time(NULL) < last;) {
        ways[i].again();
        usleep(ways[i].again == Nothing ? 1000000 : 200);
      }
      _exit(0);
    }
    close(done[1]);
    char byte;
    if (read(done[0], &byte, 1) != 1) return 3;
    printf("ready\n");
    for (;;) sleep(60);
  }
  return 2;
}
