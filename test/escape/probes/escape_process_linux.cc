// Ways to act on processes of others.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "probes/attempt.h"

namespace {

using namespace attempt;

// Pinned: old headers lack some.
constexpr long kPidfdSendSignal = 424;
constexpr long kPidfdOpen = 434;
constexpr long kPidfdGetfd = 438;
constexpr long kKcmp = SYS_kcmp;

pid_t Pid(const std::string& text) { return atoi(text.c_str()); }
int Check(long result) { return result == -1 ? Refused() : Ok(); }
int OpenPidfd(pid_t pid) { return static_cast<int>(syscall(kPidfdOpen, pid, 0U)); }

// Under Yama only what a process has asked for can be traced.
bool YamaForbids() {
  const int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
  char digit = '0';
  return fd != -1 && read(fd, &digit, 1) == 1 && digit != '0';
}
int CheckTrace(long result) {
  if (result != -1) return Ok();
  const int err = errno;
  return YamaForbids() ? Absent("needs kernel.yama.ptrace_scope 0") : Refused(err);
}

int Signal(const Arguments& a) {
  const pid_t pid = Pid(a[1]);
  const int number = atoi(a[2].c_str());
  if (a[0] == "kill") return Check(kill(pid, number));
  if (a[0] == "tgkill") return Check(syscall(SYS_tgkill, pid, pid, number));
  if (a[0] == "pidfd") return Check(syscall(kPidfdSendSignal, OpenPidfd(pid), number, nullptr, 0U));
  if (a[0] == "queue") return Check(sigqueue(pid, number, sigval{}));
  errno = EINVAL;
  return Broken("way");
}

// The kernel itself sends a signal to whoever owns a descriptor. That it was not delivered shows at the
// receiver.
int SignalByDescriptor(const Arguments& a) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == -1) return Broken("pipe");
  if (fcntl(ends[0], F_SETOWN, Pid(a[0])) == -1) return Refused();
  if (fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK) == -1) return Refused();
  return write(ends[1], "x", 1) == 1 ? Ok() : Broken("write");
}

int Trace(const Arguments& a) { return CheckTrace(ptrace(PTRACE_SEIZE, Pid(a[0]), nullptr, nullptr)); }

int ReadMemory(const Arguments& a) {
  char text[64] = {};
  iovec here{text, 20};
  iovec there{reinterpret_cast<void*>(strtoull(a[1].c_str(), nullptr, 16)), 20};
  const ssize_t size = process_vm_readv(Pid(a[0]), &here, 1, &there, 1, 0);
  if (size > 0) printf("read: %s\n", text);
  return CheckTrace(size);
}

int TakeDescriptor(const Arguments& a) {
  const int fd = static_cast<int>(syscall(kPidfdGetfd, OpenPidfd(Pid(a[0])), atoi(a[1].c_str()), 0U));
  char text[64] = {};
  if (fd != -1 && pread(fd, text, sizeof text - 1, 0) > 0) printf("read: %s\n", text);
  return CheckTrace(fd);
}

// Any one of the first descriptors of a process.
int TakeDescriptors(const Arguments& a) {
  const int pidfd = OpenPidfd(Pid(a[0]));
  int err = EBADF;
  for (int number = 0; number < 64; ++number) {
    if (syscall(kPidfdGetfd, pidfd, number, 0U) != -1) return Ok();
    if (errno != EBADF) err = errno;
  }
  errno = err;
  return CheckTrace(-1);
}

int Compare(const Arguments& a) { return CheckTrace(syscall(kKcmp, getpid(), Pid(a[0]), 1, 0UL, 0UL)); }

int EnterNamespace(const Arguments& a) { return Check(setns(OpenPidfd(Pid(a[0])), CLONE_NEWUTS)); }

int Limit(const Arguments& a) {
  const rlimit few{64, 64};
  return Check(prlimit(Pid(a[0]), RLIMIT_NOFILE, &few, nullptr));
}
int ReadLimit(const Arguments& a) {
  rlimit limit{};
  return Check(prlimit(Pid(a[0]), RLIMIT_NOFILE, nullptr, &limit));
}
int OwnLimit(const Arguments&) {
  const rlimit few{64, 64};
  return Check(prlimit(0, RLIMIT_NOFILE, &few, nullptr));
}

// One step slower than it is: to be made faster takes a privilege.
int Nice(const Arguments& a) {
  const auto pid = static_cast<id_t>(Pid(a[0]));
  errno = 0;
  const int nice = getpriority(PRIO_PROCESS, pid);
  if (nice == -1 && errno != 0) return Broken("getpriority");
  return nice == 19 ? Absent("needs a nice value below 19") : Check(setpriority(PRIO_PROCESS, pid, nice + 1));
}

int ReadSharedMemory(const Arguments& a) {
  const void* memory = shmat(atoi(a[0].c_str()), nullptr, SHM_RDONLY);
  if (memory == reinterpret_cast<void*>(-1)) return Refused();
  printf("read: %s\n", static_cast<const char*>(memory));
  return Ok();
}

volatile sig_atomic_t caught = 0;
void OnSignal(int) { caught = 1; }

// kill(-1) with a signal that does nothing to most, among at least one other process of ours. Refuses to do
// it if the outsider can be signalled: then it would reach everybody.
int SignalEveryone(pid_t outsider) {
  signal(SIGURG, OnSignal);
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) == -1) return Broken("pipe");
  fflush(stdout);
  sigset_t urgent;
  sigemptyset(&urgent);
  sigaddset(&urgent, SIGURG);
  sigprocmask(SIG_BLOCK, &urgent, nullptr);
  const pid_t companion = fork();
  if (companion == 0) {
    sigset_t none;
    sigemptyset(&none);
    if (write(ready[1], "r", 1) != 1) _exit(2);
    while (caught == 0) sigsuspend(&none);
    _exit(0);
  }
  char byte;
  if (companion == -1 || read(ready[0], &byte, 1) != 1) return Broken("fork");
  int status = -1;
  if (outsider > 0 && (kill(outsider, 0) == 0 || errno != EPERM)) {
    kill(companion, SIGKILL);
    waitpid(companion, &status, 0);
    return Broken("the outsider can be signalled");
  }
  if (kill(-1, SIGURG) == -1) {
    const int err = errno;
    kill(companion, SIGKILL);
    waitpid(companion, &status, 0);
    return Refused(err);
  }
  return waitpid(companion, &status, 0) == companion && status == 0 ? Ok() : Broken("companion");
}
// With 0 there is no outsider to look for: where everybody is only us.
int Everyone(const Arguments& a) { return SignalEveryone(Pid(a[0])); }

bool IsTraceStopped(pid_t pid) {
  const int fd = open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  char text[256] = {};
  const bool known = fd != -1 && read(fd, text, sizeof text - 1) > 0;
  close(fd);
  const char* name_end = strrchr(text, ')');
  return known && name_end != nullptr && name_end[2] == 't';
}

// Makes the keeper, the parent, our tracer, and stops. An orphan that ends afterwards makes the keeper look
// at all of its children.
int TraceMe(const Arguments&) {
  const pid_t self = getpid();
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const pid_t orphan = fork();
    if (orphan > 0) {
      printf("orphan %d\n", orphan);
      fflush(stdout);
      _exit(0);
    }
    while (!IsTraceStopped(self)) usleep(1000);
    _exit(0);
  }
  int status = -1;
  if (child == -1 || waitpid(child, &status, 0) != child) return Broken("fork");
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == -1) return Refused();
  raise(SIGSTOP);
  return Ok();
}

constexpr Command kCommands[] = {
    {"signal", 3, Signal},
    {"signal-by-descriptor", 1, SignalByDescriptor},
    {"trace", 1, Trace},
    {"read-memory", 2, ReadMemory},
    {"take-descriptor", 2, TakeDescriptor},
    {"take-descriptors", 1, TakeDescriptors},
    {"compare", 1, Compare},
    {"enter-namespace", 1, EnterNamespace},
    {"limit", 1, Limit},
    {"read-limit", 1, ReadLimit},
    {"own-limit", 0, OwnLimit},
    {"nice", 1, Nice},
    {"shared-memory", 1, ReadSharedMemory},
    {"everyone", 1, Everyone},
    {"trace-me", 0, TraceMe},
};

}  // namespace

int main(int argc, char** argv) { return attempt::Main(argc, argv, kCommands); }
