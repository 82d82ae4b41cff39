// Somebody of the same user outside the session, with everything that a session might be after: secrets in
// its environment, memory, working directory and descriptors, and sockets on which it serves whoever comes,
// also by running commands for them. Prints where its secrets are, serves until its input ends, and then
// tells what happened to it.
//   escape_outsider_linux DIRECTORY SECRET-FILE NAME TYPE:PATH...   (TYPE: stream, seqpacket or dgram; a PATH
//   that begins with @ is abstract)
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int kSecretFd = 9;
constexpr char kGreeting[] = "the-secret of a server";
volatile sig_atomic_t signals = 0;
int visitors = 0;

void OnSignal(int) { signals = signals + 1; }

void CatchSignals() {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  for (int number : {SIGUSR1, SIGURG, SIGIO, SIGXCPU, SIGHUP, SIGTERM}) sigaction(number, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

int Bind(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string type = text.substr(0, colon);
  const std::string path = text.substr(colon + 1);
  const int kind = type == "dgram" ? SOCK_DGRAM : type == "stream" ? SOCK_STREAM : SOCK_SEQPACKET;
  const int fd = socket(AF_UNIX, kind | SOCK_CLOEXEC, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  memcpy(name.sun_path, path.data(), path.size());
  if (name.sun_path[0] == '@') name.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  if (bind(fd, reinterpret_cast<sockaddr*>(&name), size) == -1) return -1;
  if (kind != SOCK_DGRAM && listen(fd, 16) == -1) return -1;
  return fd;
}

// "run COMMAND" is done, as systemd --user would.
void Serve(int socket) {
  char request[4096] = {};
  ++visitors;
  const int client = accept4(socket, nullptr, nullptr, SOCK_CLOEXEC);
  if (client == -1) {  // a datagram socket
    if (recv(socket, request, sizeof request - 1, MSG_DONTWAIT) == -1) --visitors;
    return;
  }
  (void)!write(client, kGreeting, sizeof kGreeting);
  if (recv(client, request, sizeof request - 1, 0) > 0 && strncmp(request, "run ", 4) == 0) {
    const int status = system(request + 4);
    (void)!write(client, status == 0 ? "done" : "failed", 6);
  }
  close(client);
}

// What nobody else should have changed: limits, priority, processors.
std::string Condition() {
  std::string text;
  for (int which = 0; which < 16; ++which) {
    rlimit limit{};
    if (getrlimit(static_cast<__rlimit_resource>(which), &limit) == 0)
      text += std::to_string(limit.rlim_cur) + "/" + std::to_string(limit.rlim_max) + " ";
  }
  cpu_set_t processors;
  CPU_ZERO(&processors);
  sched_getaffinity(0, sizeof processors, &processors);
  text += "nice " + std::to_string(getpriority(PRIO_PROCESS, 0)) + " policy " +
          std::to_string(sched_getscheduler(0)) + " processors " + std::to_string(CPU_COUNT(&processors));
  return text;
}

int MakeSharedMemory() {
  const int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
  if (id == -1) return -1;
  void* memory = shmat(id, nullptr, 0);
  if (memory != reinterpret_cast<void*>(-1)) memcpy(memory, kGreeting, sizeof kGreeting);
  return id;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  CatchSignals();
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);  // where Yama is
  if (chdir(argv[1]) == -1) return 2;
  const int secret = open(argv[2], O_RDONLY);
  if (secret == -1 || dup2(secret, kSecretFd) == -1) return 2;
  std::vector<pollfd> watched = {{STDIN_FILENO, POLLIN, 0}};
  for (int i = 3; i < argc; ++i) watched.push_back({Bind(argv[i]), POLLIN, 0});
  for (const pollfd& entry : watched) {
    if (entry.fd == -1) return 2;
  }
  const int memory = MakeSharedMemory();
  const std::string before = Condition();
  printf("ready %p %d\n", static_cast<const void*>(kGreeting), memory);
  fflush(stdout);
  while (poll(watched.data(), watched.size(), -1) != -1 || errno == EINTR) {
    if (watched[0].revents != 0) break;
    for (size_t i = 1; i < watched.size(); ++i) {
      if (watched[i].revents != 0) Serve(watched[i].fd);
      watched[i].revents = 0;
    }
  }
  if (memory != -1) shmctl(memory, IPC_RMID, nullptr);
  printf("visitors %d signals %d condition %s\n", visitors, static_cast<int>(signals),
         Condition() == before ? "same" : "changed");
  return 0;
}
