// Programs that mean to outlive their terminal.
//   lingerer <way> <token> [<detail>]
// The token only marks the command line of each process, so that a test finds them all. The leader, which is what the
// terminal runs, prints "ready" when its offspring is in place, and then waits. Those that cannot be ended one by one (and
// that is most of what they are about) end with the file `detail`, their leash: a test removes it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Longer than any test waits for their end: should its leash be left behind, nothing here lives for ever.
enum { kHoppers = 200, kFewHoppers = 20, kIdle = 200, kLeashedSeconds = 180, kBombs = 400, kLit = 50 };
static int hoppers = kHoppers;
static useconds_t hop_pause = 1000;
static int traced = 0;
static int ready[2];
static const char* detail;

static time_t last_second;

static void Wait(void) {
  while (time(NULL) < last_second) sleep(10);
  _exit(0);
}

static void IgnoreAll(void) {
  for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
}

static void LeaveTerminal(void) {
  for (int fd = 0; fd < 3; ++fd) close(fd);
}

static void Say(void) {
  if (write(ready[1], "r", 1) != 1) _exit(1);
}

static void Linger(void) {
  Say();
  Wait();
}

static void Setsid(void) {
  if (fork() != 0) return;
  setsid();
  IgnoreAll();
  LeaveTerminal();
  Linger();
}

static void DoubleFork(void) {
  if (fork() != 0) return;
  setsid();
  if (fork() != 0) _exit(0);
  IgnoreAll();
  LeaveTerminal();
  Linger();
}

static void CloneParent(void) {
  if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) != 0) return;
  setsid();
  IgnoreAll();
  LeaveTerminal();
  Linger();
}

static void Ignore(void) {
  if (fork() != 0) return;
  IgnoreAll();
  Linger();
}

static void HoldSlave(void) {
  if (fork() != 0) return;
  int slave = open(ttyname(1), O_RDWR | O_NOCTTY);
  setsid();
  IgnoreAll();
  LeaveTerminal();
  if (slave >= 0) Linger();
}

static int Leashed(void) { return access(detail, F_OK) == 0 && time(NULL) < last_second; }

// Never the same process for longer than a moment.
static void Hop(void) {
  for (int first = 1; Leashed();) {
    pid_t next = fork();
    if (next > 0) _exit(0);
    if (next < 0) continue;
    if (first) Say();
    first = 0;
    usleep(hop_pause);
    // By then its parent is gone and the keeper is: a parent that ignores its children still has to reap this one.
    if (traced) ptrace(PTRACE_TRACEME, 0, NULL, NULL);
  }
  _exit(0);
}

static void Hoppers(void) {
  for (int i = 0; i < hoppers; ++i) {
    if (fork() != 0) continue;
    setsid();
    signal(SIGHUP, SIG_IGN);
    LeaveTerminal();
    Hop();
  }
}

// For where they cannot be ended at once: two hundred of them, for seconds, take every process number there is, and
// other tests run at the same time. Either fewer...
static void FewHoppers(void) {
  hoppers = kFewHoppers;
  Hoppers();
}

// ...or no faster than whoever adopts them reaps.
static void SlowHoppers(void) {
  hop_pause = 100000;
  Hoppers();
}

// Where nobody but the first process of the machine adopts them, which may take its time: fewer and slower.
static void SomeHoppers(void) {
  hoppers = kFewHoppers;
  SlowHoppers();
}

static void TracedHoppers(void) {
  traced = 1;
  FewHoppers();
}

// Everybody forks for as long as there is room: not for ever, as nobody but a cgroup could hold that.
static void Bomb(void) {
  int* lit = mmap(NULL, sizeof *lit, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (lit == MAP_FAILED || fork() != 0) return;
  setsid();
  signal(SIGHUP, SIG_IGN);
  LeaveTerminal();
  while (Leashed()) {
    const int number = __atomic_add_fetch(lit, 1, __ATOMIC_RELAXED);
    if (number == kLit) Say();
    if (number >= kBombs || fork() < 0) usleep(100000);
  }
  _exit(0);
}

static void Stopped(void) {
  pid_t child = fork();
  if (child == 0) {
    setsid();
    for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
    LeaveTerminal();
    raise(SIGSTOP);
    Wait();
  }
  int status = 0;
  waitpid(child, &status, WUNTRACED);
  if (WIFSTOPPED(status)) Say();
}

static void Vfork(void) {
  if (fork() != 0) return;
  setsid();
  IgnoreAll();
  LeaveTerminal();
  // The parent sleeps in the kernel for as long as its child does.
  if (vfork() == 0) Linger();
}

static int Answer(int fuse, const struct fuse_in_header* request, const void* body, size_t size) {
  struct { struct fuse_out_header header; struct fuse_init_out init; } reply = {0};
  reply.header.len = (uint32_t)(sizeof reply.header + size);
  reply.header.unique = request->unique;
  memcpy(&reply.init, body, size);
  return write(fuse, &reply, reply.header.len) == (ssize_t)reply.header.len;
}

// A file system that hears every question and answers none, and somebody who has asked: no signal wakes him, SIGKILL
// included, before the file system is gone. `detail` is a directory to mount it on, for itself alone.
static void FuseSleeper(void) {
  if (fork() != 0) return;
  setsid();
  IgnoreAll();
  char options[64], request[FUSE_MIN_READ_BUFFER * 2];
  const struct fuse_in_header* header = (const struct fuse_in_header*)request;
  const struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096};
  const int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
  if (fuse < 0 || unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("sleeper", detail, "fuse.sleeper", 0, options) != 0 || read(fuse, request, sizeof request) < 0 ||
      header->opcode != FUSE_INIT || !Answer(fuse, header, &init, sizeof init)) {
    printf("no file system: %s\n", strerrorname_np(errno));
    _exit(1);
  }
  const pid_t sleeper = fork();
  if (sleeper == 0) {
    close(fuse);
    char path[4400];
    struct stat info;
    snprintf(path, sizeof path, "%s/anything", detail);
    stat(path, &info);
    Wait();
  }
  do {
    if (read(fuse, request, sizeof request) < 0) _exit(1);
  } while (header->opcode != FUSE_LOOKUP);
  printf("sleeper %d\n", (int)sleeper);
  LeaveTerminal();
  Linger();
}

static void OnParentsDeath(int number) {
  (void)number;
  if (fork() == 0) setsid();
}

// Multiplies when its parent dies.
static void ParentDeathSignal(void) {
  if (fork() != 0) return;
  if (fork() == 0) {
    signal(SIGHUP, SIG_IGN);
    signal(SIGUSR1, OnParentsDeath);
    prctl(PR_SET_PDEATHSIG, SIGUSR1);
    setsid();
    LeaveTerminal();
    Linger();
  }
  IgnoreAll();
  Wait();
}

// `detail` is where the hierarchy is mounted.
static void LockCgroup(void) {
  char line[4096], path[4200] = "", file[4400];
  FILE* own = fopen("/proc/self/cgroup", "r");
  while (own != NULL && fgets(line, sizeof line, own) != NULL) {
    line[strcspn(line, "\n")] = 0;
    if (strncmp(line, "0::", 3) == 0) snprintf(path, sizeof path, "%s%s", detail, line + 3);
  }
  int err = 0;
  const char* names[] = {"cgroup.procs", "cgroup.kill", "cgroup.events", "cgroup.threads", "."};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    snprintf(file, sizeof file, "%s/%s", path, names[i]);
    if (chmod(file, 0) != 0) err = errno;
  }
  printf("locked: %s\n", strerrorname_np(err) ? strerrorname_np(err) : "?");
  Setsid();
}

// `detail` is a cgroup beside ours.
static void MoveAway(void) {
  char file[4400];
  snprintf(file, sizeof file, "%s/cgroup.procs", detail);
  if (fork() != 0) return;
  setsid();
  IgnoreAll();
  int err = 0;
  int fd = open(file, O_WRONLY);
  if (fd < 0 || write(fd, "0", 1) != 1) err = errno;
  printf("moved: %s\n", err == 0 ? "0" : strerrorname_np(err));
  fflush(stdout);
  LeaveTerminal();
  if (fork() != 0) _exit(0);
  Linger();
}

static const char* Outcome(long result) { return result == 0 ? "0" : strerrorname_np(errno); }

// Our parent is who watches us, and the terminal ends with it. Only when a line comes, so that the session has begun.
static void AttackKeeper(void) {
  pid_t keeper = getppid();
  signal(SIGHUP, SIG_IGN);
  if (getchar() == EOF) return;
  printf("trace: %s\n", Outcome(ptrace(PTRACE_SEIZE, keeper, 0, 0)));
  printf("stop: %s\n", Outcome(kill(keeper, SIGSTOP)));
  printf("kill: %s\n", Outcome(kill(keeper, SIGKILL)));
  Setsid();
}

static void Idle(void) {
  for (int i = 0; i < kIdle; ++i) {
    if (fork() == 0) Linger();
  }
}

static const struct {
  const char* name;
  void (*run)(void);
  int voices;
} ways[] = {
    {"setsid", Setsid, 1},      {"double-fork", DoubleFork, 1}, {"clone-parent", CloneParent, 1},
    {"ignore", Ignore, 1},      {"hoppers", Hoppers, kHoppers}, {"stopped", Stopped, 1},
    {"vfork", Vfork, 1},        {"slave", HoldSlave, 1},        {"pdeathsig", ParentDeathSignal, 1},
    {"lock", LockCgroup, 1},    {"move", MoveAway, 1},          {"keeper", AttackKeeper, 1},
    {"idle", Idle, kIdle},      {"few-hoppers", FewHoppers, kFewHoppers},
    {"traced-hoppers", TracedHoppers, kFewHoppers},
    {"slow-hoppers", SlowHoppers, kHoppers}, {"some-hoppers", SomeHoppers, kFewHoppers},
    {"bomb", Bomb, 1},          {"fuse", FuseSleeper, 1},
};

int main(int argc, char** argv) {
  if (argc < 3 || pipe(ready) != 0) return 2;
  detail = argc > 3 ? argv[3] : "";
  last_second = time(NULL) + kLeashedSeconds;
  setvbuf(stdout, NULL, _IONBF, 0);
  for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
    if (strcmp(ways[i].name, argv[1]) != 0) continue;
    ways[i].run();
    char byte;
    for (int heard = 0; heard < ways[i].voices; ++heard) {
      if (read(ready[0], &byte, 1) != 1) return 3;
    }
    printf("ready\n");
    Wait();
  }
  return 2;
}
