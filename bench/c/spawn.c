// The ceiling for starting a session of /bin/true: what the call costs, and how long it takes
// until the exit is known, with a heap of the given size.
//   forkpty        fork of the whole process, as node-pty does
//   keeper         posix_spawn of a static keeper, which forks and answers when exec worked
//   keeper-vfork   the same, the keeper uses vfork
//   keeper-early   the same, the keeper answers before exec
//   spare[-vfork|-early]  the keeper was started beforehand, while idle
// usage: spawn mode keeper-program heap-MiB count gap-ms [burst]
#include "keeper_model.h"
#include "pty_common.h"

#include <spawn.h>
#include <sys/socket.h>

struct session {
  int master, control;
  pid_t keeper, child;
};

static const char* keeper_path;
static int mode;

static void check(int error, const char* what) {
  if (error != 0) errno = error, die(what);
}

static struct session start_keeper(void) {
  struct session s = {.master = -1};
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) die("socketpair");
  posix_spawn_file_actions_t actions;
  check(posix_spawn_file_actions_init(&actions), "file_actions_init");
  if (ends[1] == 3) {
    fcntl(3, F_SETFD, 0);
  } else {
    check(posix_spawn_file_actions_adddup2(&actions, ends[1], 3), "adddup2");
  }
  char* const argv[] = {"keeper", NULL};
  char* const envp[] = {NULL};
  check(posix_spawn(&s.keeper, keeper_path, &actions, NULL, argv, envp), "posix_spawn");
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  s.control = ends[0];
  return s;
}

static void send_plan(const struct session* s, int slave) {
  struct plan plan = {.mode = mode, .file = "/bin/true"};
  char room[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec part = {&plan, sizeof plan};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  struct cmsghdr* c = CMSG_FIRSTHDR(&message);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(sizeof slave);
  memcpy(CMSG_DATA(c), &slave, sizeof slave);
  if (sendmsg(s->control, &message, MSG_NOSIGNAL) != sizeof plan) die("sendmsg");
}

static struct answer receive(const struct session* s) {
  struct answer a;
  if (recv(s->control, &a, sizeof a, 0) != sizeof a || a.err != 0) die("keeper");
  return a;
}

static int open_slave(int* master) {
  struct termios t = session_termios();
  struct winsize w = {.ws_row = 24, .ws_col = 80};
  *master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (*master < 0 || unlockpt(*master) < 0) die("posix_openpt");
  int slave = ioctl(*master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave < 0 || tcsetattr(slave, TCSANOW, &t) < 0 || ioctl(slave, TIOCSWINSZ, &w) < 0) die("slave");
  return slave;
}

static void by_keeper(struct session* s) {
  int slave = open_slave(&s->master);
  if (s->keeper == 0) {
    struct session fresh = start_keeper();
    s->keeper = fresh.keeper;
    s->control = fresh.control;
  }
  send_plan(s, slave);
  close(slave);
  s->child = receive(s).pid;
}

static void by_forkpty(struct session* s) {
  s->child = fork_session(&s->master);
  if (s->child == 0) {
    execl("/bin/true", "true", (char*)NULL);
    _exit(127);
  }
}

static void await_exit(const struct session* s) {
  char c[256];
  while (read(s->master, c, sizeof c) > 0) continue;
  if (s->keeper) receive(s);
  if (!s->keeper) waitpid(s->child, NULL, 0);
}

static void clean_up(const struct session* s) {
  if (s->keeper) waitpid(s->keeper, NULL, 0), close(s->control);
  close(s->master);
}

static char* touched_heap(size_t mib) {
  size_t size = mib << 20;
  char* heap = malloc(size + 1);
  if (heap == NULL) die("malloc");
  for (size_t i = 0; i < size; i += 4096) heap[i] = 1;
  return heap;
}

static void pause_ms(long ms) {
  struct timespec t = {.tv_nsec = ms * 1000000L};
  nanosleep(&t, NULL);
}

static void burst(int use_forkpty, int count) {
  struct session* all = calloc((size_t)count, sizeof *all);
  double t0 = now_s();
  for (int i = 0; i < count; i++) (use_forkpty ? by_forkpty : by_keeper)(&all[i]);
  double calls = (now_s() - t0) * 1e3;
  for (int i = 0; i < count; i++) await_exit(&all[i]);
  double done = (now_s() - t0) * 1e3;
  for (int i = 0; i < count; i++) clean_up(&all[i]);
  printf("{\"blocked_ms\":%.3f,\"calls_ms\":%.3f,\"all_exited_ms\":%.3f}\n", calls, calls, done);
}

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  int use_forkpty = strcmp(argv[1], "forkpty") == 0, spare = strncmp(argv[1], "spare", 5) == 0;
  if (strstr(argv[1], "-vfork")) mode = kVfork;
  if (strstr(argv[1], "-early")) mode = kAnswerBeforeExec;
  keeper_path = argv[2];
  char* heap = touched_heap(strtoul(argv[3], NULL, 10));
  int count = atoi(argv[4]);
  long gap = atol(argv[5]);
  if (count < 1) return 2;
  if (argc > 6) return burst(use_forkpty, count), 0;
  double* call = calloc((size_t)count, sizeof *call);
  double* whole = calloc((size_t)count, sizeof *whole);
  for (int i = -3; i < count; i++) {
    struct session s = {0};
    if (spare) s = start_keeper();
    pause_ms(gap);
    double t0 = now_s();
    (use_forkpty ? by_forkpty : by_keeper)(&s);
    double t1 = now_s();
    await_exit(&s);
    double t2 = now_s();
    clean_up(&s);
    if (i >= 0) call[i] = (t1 - t0) * 1e3, whole[i] = (t2 - t0) * 1e3;
  }
  size_t n = (size_t)count;
  double call50 = percentile(call, n, 0.5), call95 = percentile(call, n, 0.95);
  double exit50 = percentile(whole, n, 0.5), exit95 = percentile(whole, n, 0.95);
  printf("{\"call_p50_ms\":%.4f,\"call_p95_ms\":%.4f,\"exit_p50_ms\":%.4f,\"exit_p95_ms\":%.4f}\n", call50, call95,
         exit50, exit95);
  free(heap);
  return 0;
}
