// Becomes a keeper for which certain system calls fail, in itself and in what it forks. Started through a
// script whose first line names this program; the script's next line is the keeper's path, and each further
// one a rule: "number argument value errno who", where argument -1 means any, errno 0 ends the process, and
// who is "all" or "child" (not in the keeper itself).
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

struct Rule {
  uint32_t number;
  int argument;
  uint32_t value;
  uint32_t error;
  std::string who;
};

sock_filter Load(size_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)); }

std::vector<sock_filter> BuildFilter(const std::vector<Rule>& rules) {
  std::vector<sock_filter> filter;
  for (const Rule& rule : rules) {
    uint32_t verdict =
        rule.who == "child" ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ERRNO | (rule.error & SECCOMP_RET_DATA);
    if (rule.error == 0) verdict = SECCOMP_RET_KILL_PROCESS;
    bool any = rule.argument < 0;
    filter.push_back(Load(offsetof(seccomp_data, nr)));
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rule.number, 0, static_cast<uint8_t>(any ? 1 : 3)));
    if (!any) {
      // The low half of the argument, on a little-endian machine.
      filter.push_back(Load(offsetof(seccomp_data, args) + 8 * static_cast<size_t>(rule.argument)));
      filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rule.value, 0, 1));
    }
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, verdict));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return filter;
}

// Sends or receives one descriptor, with plain system calls.
bool Pass(int socket, int* fd, bool send) {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = ancillary;
  message.msg_controllen = sizeof ancillary;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), fd, sizeof(int));
  if (send) return sendmsg(socket, &message, 0) == 1;
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) return false;
  memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
  return true;
}

// Lets the keeper's own calls through and fails those of others, until all of them are gone.
[[noreturn]] void Supervise(int socket, pid_t keeper, uint32_t error) {
  int listener = -1;
  if (!Pass(socket, &listener, false)) _exit(1);
  for (int fd = 0; fd < 1024; ++fd) {
    if (fd != listener) close(fd);
  }
  for (;;) {
    pollfd watched{listener, POLLIN, 0};
    if (poll(&watched, 1, -1) == -1 || (watched.revents & POLLIN) == 0) _exit(0);
    seccomp_notif request{};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) == -1) continue;
    seccomp_notif_resp response{};
    response.id = request.id;
    if (static_cast<pid_t>(request.pid) == keeper) {
      response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    } else {
      response.error = -static_cast<int>(error);
    }
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
  }
}

// A supervisor that is nobody's child: the keeper must not find it among its own.
int StartSupervisor(uint32_t error) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == -1) _exit(1);
  pid_t keeper = getpid();
  pid_t middle = fork();
  if (middle == 0) {
    if (fork() != 0) _exit(0);
    Supervise(ends[1], keeper, error);
  }
  waitpid(middle, nullptr, 0);
  close(ends[1]);
  return ends[0];
}

}  // namespace

int main(int, char** argv) {
  std::ifstream script(argv[1]);
  std::string keeper;
  std::getline(script, keeper);
  std::getline(script, keeper);
  std::vector<Rule> rules;
  int supervisor = -1;
  for (Rule rule; script >> rule.number >> rule.argument >> rule.value >> rule.error >> rule.who;) {
    rules.push_back(rule);
    if (rule.who == "child") supervisor = StartSupervisor(rule.error);
  }
  script.close();
  std::vector<sock_filter> filter = BuildFilter(rules);
  sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  char* arguments[] = {keeper.data(), nullptr};
  char* environment[] = {nullptr};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1) _exit(1);
  unsigned flags = supervisor == -1 ? 0 : SECCOMP_FILTER_FLAG_NEW_LISTENER;
  int listener = static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
  if (listener == -1) _exit(1);
  if (supervisor != -1 && !Pass(supervisor, &listener, true)) _exit(1);
  if (supervisor != -1) close(listener);
  execve(keeper.c_str(), arguments, environment);
  return 1;
}
