// Checks native/libc, linked exactly as the keeper is: without any other C library, so without GoogleTest.
// Ends with 0, or prints the line of the first check that failed.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

[[noreturn]] void FailAt(int line) {
  char text[] = "test/native/libc_check_linux.cc:0000: check failed\n";
  for (size_t at = strlen("test/native/libc_check_linux.cc:0000"); line > 0; line /= 10) {
    text[--at] = static_cast<char>('0' + line % 10);
  }
  _exit(write(STDERR_FILENO, text, sizeof text - 1) > 0 ? 1 : 2);
}

#define CHECK(condition) \
  if (!(condition)) FailAt(__LINE__)

int handled = 0;
void OnSignal(int number) { handled = number; }

// Tables of addresses need relocation in a position-independent program.
const char* const names[] = {"first", "second"};
int (*const functions[])(const char*) = {atoi};

// Constructed before main, at run time.
int Seven() { return static_cast<int>(strlen(names[1])) + 1; }
int constructed = Seven();

void CheckBytes() {
  char bytes[64];
  memset(bytes, 'x', sizeof bytes);
  CHECK(bytes[0] == 'x' && bytes[63] == 'x');
  memcpy(bytes, "0123456789", 11);
  memmove(bytes + 2, bytes, 10);
  CHECK(memcmp(bytes, "010123456789", 12) == 0);
  memmove(bytes, bytes + 2, 10);
  CHECK(memcmp(bytes, "0123456789", 10) == 0);
  CHECK(memcmp("a", "b", 1) < 0 && memcmp("b", "a", 1) > 0);
  CHECK(memchr(bytes, '7', 10) == bytes + 7 && memchr(bytes, 'z', 10) == nullptr);
  CHECK(strcmp(names[0], "first") == 0 && strcmp("a", "b") < 0 && strcmp("ab", "a") > 0);
  CHECK(functions[0]("120x") == 120 && atoi("-7") == -7 && atoi("") == 0);
  CHECK(atoi("99999999999") == __INT_MAX__);
}

void CheckFiles() {
  CHECK(close(999) == -1 && errno == EBADF);
  CHECK(open("/nonexistent/path", O_RDONLY | O_CLOEXEC) == -1 && errno == ENOENT);
  int ends[2];
  CHECK(pipe2(ends, O_CLOEXEC) == 0);
  CHECK(fcntl(ends[0], F_GETFD) == FD_CLOEXEC);
  CHECK(dup2(ends[0], ends[0]) == ends[0] && dup2(999, 999) == -1);
  CHECK(dup2(ends[1], 50) == 50 && fcntl(50, F_GETFD) == 0);
  pollfd watched{ends[0], POLLIN, 0};
  CHECK(poll(&watched, 1, 20) == 0);
  CHECK(write(50, "abc", 3) == 3);
  CHECK(poll(&watched, 1, -1) == 1 && watched.revents == POLLIN);
  char bytes[8];
  CHECK(read(ends[0], bytes, sizeof bytes) == 3 && memcmp(bytes, "abc", 3) == 0);
  void* memory = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  memset(memory, 1, 8192);
  CHECK(munmap(memory, 8192) == 0);
  CHECK(mmap(nullptr, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EINVAL);
}

// A descriptor that travels through a socket, taken out with the CMSG macros.
void CheckMessages() {
  int pair[2];
  // socketpair is nothing that the keeper needs.
  CHECK(syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
  char byte = 'm';
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &pair[0], sizeof(int));
  CHECK(sendmsg(pair[0], &message, MSG_NOSIGNAL) == 1);
  memset(control, 0, sizeof control);
  CHECK(recvmsg(pair[1], &message, MSG_CMSG_CLOEXEC) == 1);
  header = CMSG_FIRSTHDR(&message);
  CHECK(header != nullptr && header->cmsg_type == SCM_RIGHTS);
  int received = -1;
  memcpy(&received, CMSG_DATA(header), sizeof received);
  CHECK(received > pair[1] && fcntl(received, F_GETFD) == FD_CLOEXEC);
  CHECK(CMSG_NXTHDR(&message, header) == nullptr);
}

void CheckProcesses() {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  CHECK(sigaction(SIGCHLD, &action, nullptr) == 0);
  struct sigaction old {};
  CHECK(sigaction(SIGCHLD, nullptr, &old) == 0 && old.sa_handler == OnSignal);
  CHECK(sigaction(SIGKILL, &action, nullptr) == -1 && errno == EINVAL);
  pid_t child = fork();
  CHECK(child != -1);
  if (child == 0) _exit(5);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5);
  CHECK(handled == SIGCHLD);
  CHECK(waitpid(-1, &status, 0) == -1 && errno == ECHILD);

  sigset_t set;
  sigfillset(&set);
  sigdelset(&set, SIGUSR1);
  CHECK(sigprocmask(SIG_SETMASK, &set, nullptr) == 0);
  CHECK(kill(getpid(), SIGUSR2) == 0);  // blocked: would end us
  sigset_t now;
  CHECK(sigprocmask(SIG_BLOCK, nullptr, &now) == 0);
  uint64_t mask = 0;
  memcpy(&mask, &now, sizeof mask);
  CHECK((mask & (uint64_t{1} << (SIGUSR1 - 1))) == 0 && (mask & (uint64_t{1} << (SIGUSR2 - 1))) != 0);
  CHECK(sigaddset(&set, 65) == -1 && errno == EINVAL);

  child = fork();
  if (child == 0) {
    char path[] = "/bin/sh";
    char flag[] = "-c";
    char script[] = "exit $ANSWER";
    char variable[] = "ANSWER=42";
    char* argv[] = {path, flag, script, nullptr};
    char* env[] = {variable, nullptr};
    execve(path, argv, env);
    _exit(127);
  }
  CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 42);
}

}  // namespace

int main() {
  CHECK(constructed == 7);
  CheckBytes();
  CheckFiles();
  CheckMessages();
  CheckProcesses();
  return 0;
}
