// The keeper of the model: takes one plan and the slave's descriptor from its control socket
// (fd 3), starts the program on that terminal, answers with the pid, waits, answers the status.
#define _GNU_SOURCE
#include "keeper_model.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kControl = 3 };

static int receive_plan(struct plan* plan) {
  char room[CMSG_SPACE(sizeof(int))];
  struct iovec part = {plan, sizeof *plan};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  if (recvmsg(kControl, &message, MSG_CMSG_CLOEXEC) != sizeof *plan) return -1;
  struct cmsghdr* c = CMSG_FIRSTHDR(&message);
  if (c == NULL || c->cmsg_type != SCM_RIGHTS) return -1;
  int fd;
  memcpy(&fd, CMSG_DATA(c), sizeof fd);
  return fd;
}

// In the child. Writes errno to `report` when a step fails; the pipe closes by itself on success.
static void become(const struct plan* plan, int slave, int report) {
  char* const argv[] = {(char*)plan->file, NULL};
  char* const envp[] = {"PATH=/usr/bin:/bin", "TERM=xterm", NULL};
  if (setsid() >= 0 && ioctl(slave, TIOCSCTTY, 0) == 0 && dup2(slave, 0) == 0 && dup2(slave, 1) == 1 &&
      dup2(slave, 2) == 2) {
    syscall(SYS_close_range, 3u, ~0u, 4u);  // CLOSE_RANGE_CLOEXEC
    execve(plan->file, argv, envp);
  }
  int err = errno;
  if (write(report, &err, sizeof err) < 0) _exit(126);
  _exit(127);
}

int main(void) {
  struct plan plan;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  int slave = receive_plan(&plan);
  if (slave < 0) return 1;
  int report[2];
  if (pipe2(report, O_CLOEXEC) < 0) return 1;
  pid_t pid = plan.mode == kVfork ? vfork() : fork();
  if (pid < 0) return 1;
  if (pid == 0) become(&plan, slave, report[1]);
  close(slave);
  close(report[1]);
  struct answer answer = {.pid = pid};
  if (plan.mode != kAnswerBeforeExec && read(report[0], &answer.err, sizeof answer.err) < 0) return 1;
  if (send(kControl, &answer, sizeof answer, MSG_NOSIGNAL) < 0) return 1;
  if (waitpid(pid, &answer.status, 0) < 0) return 1;
  return send(kControl, &answer, sizeof answer, MSG_NOSIGNAL) < 0;
}
