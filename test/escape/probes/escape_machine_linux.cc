// Ways through the machine: terminal, keyrings, cgroups, privileges, other system call tables.
#include <fcntl.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "probes/attempt.h"

namespace {

using namespace attempt;

constexpr unsigned long kHighGarbage = 0xdead0001UL << 32;

int Check(long result) { return result == -1 ? Refused() : Ok(); }

// Raw, so that the high half of the request reaches the kernel.
int Ioctl(int terminal, unsigned long request, const void* argument) {
  const long result = syscall(SYS_ioctl, terminal, request, argument);
  // What the administrator has switched off cannot be shown.
  if (result == -1 && errno == EIO) return Absent("needs dev.tty.legacy_tiocsti 1");
  return Check(result);
}
int PushInput(const Arguments& a) {
  return Ioctl(STDIN_FILENO, a[0] == "plain" ? TIOCSTI : TIOCSTI | kHighGarbage, "x");
}
// Only asks for something, as the console is everybody's.
int ControlConsole(const Arguments& a) {
  char shift_state = 6;
  int terminal = STDIN_FILENO;
  if (a.size() > 1) terminal = open(a[1].c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal == -1 && (errno == ENOENT || errno == ENXIO || errno == ENODEV))
    return Absent("needs a console");
  if (terminal == -1) return Broken("console");
  return Ioctl(terminal, a[0] == "plain" ? TIOCLINUX : TIOCLINUX | kHighGarbage, &shift_state);
}

// To the one that it has: outside, nothing changes.
int SetLineDiscipline(const Arguments&) {
  const int terminal = 0;
  return Check(ioctl(STDIN_FILENO, TIOCSETD, &terminal));
}
int SecureBits(const Arguments&) {
  const int bits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
  if (bits == -1) return Refused();
  printf("secure bits 0x%x\n", static_cast<unsigned>(bits));
  return Ok();
}

int Keyctl(const Arguments&) {
  return Check(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING, 1));
}
int AddKey(const Arguments&) {
  return Check(syscall(SYS_add_key, "user", "spty-escape", "x", 1, KEY_SPEC_PROCESS_KEYRING));
}
// One that is there, if a key could be added.
int RequestKey(const Arguments&) {
  syscall(SYS_add_key, "user", "spty-escape", "x", 1, KEY_SPEC_PROCESS_KEYRING);
  return Check(syscall(SYS_request_key, "user", "spty-escape", nullptr, 0));
}

int JoinCgroup(const Arguments& a) {
  const int fd = open((a[0] + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
  return fd == -1 ? Refused() : Check(write(fd, "0", 1));
}
int MakeCgroup(const Arguments& a) {
  const std::string path = a[0] + "/made";
  if (mkdir(path.c_str(), 0755) == -1) return Refused();
  return rmdir(path.c_str()) == 0 ? Ok() : Broken("rmdir");
}
// Needs no file of the cgroup to be opened for writing, only the directory at all.
int CloneIntoCgroup(const Arguments& a) {
  struct {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size,
        cgroup;
  } arguments{};
  arguments.flags = 0x200000000ULL;  // CLONE_INTO_CGROUP
  arguments.exit_signal = SIGCHLD;
  const int dir = open(a[0].c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (dir == -1) return Broken("O_PATH");
  arguments.cgroup = static_cast<uint64_t>(dir);
  fflush(stdout);
  const long child = syscall(SYS_clone3, &arguments, sizeof arguments);
  if (child == -1) return Refused();
  if (child == 0) _exit(0);
  int status = -1;
  return waitpid(static_cast<pid_t>(child), &status, 0) == child ? Ok() : Broken("waitpid");
}

int MakeMessageQueue(const Arguments& a) {
  const long queue = syscall(SYS_mq_open, a[0].c_str(), O_CREAT | O_RDWR, 0600, nullptr);
  if (queue == -1) return Refused();
  return syscall(SYS_mq_unlink, a[0].c_str()) == 0 ? Ok() : Broken("mq_unlink");
}

// The kernel writes a core file into the working directory, which may be anywhere.
int DumpCore(const Arguments& a) {
  const int pattern = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
  char first = '|';
  if (pattern == -1 || read(pattern, &first, 1) != 1 || first == '|' || first == '/')
    return Absent("needs a core_pattern that is a plain name");
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
    if (chdir(a[0].c_str()) == -1 || setrlimit(RLIMIT_CORE, &all) == -1) _exit(1);
    signal(SIGQUIT, SIG_DFL);
    raise(SIGQUIT);
    _exit(1);
  }
  int status = -1;
  if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status))
    return Absent("needs room for a core file");
  return WCOREDUMP(status) ? Ok() : Refused(EACCES);
}

// Which user a setuid program runs as: our own copy says so by itself.
int Effective(const Arguments& a) {
  if (geteuid() == static_cast<uid_t>(atoi(a[0].c_str()))) return Ok();
  return Refused(EPERM);
}
int RunSetuid(const Arguments& a) {
  fflush(stdout);
  execl(a[0].c_str(), a[0].c_str(), "effective", "0", static_cast<char*>(nullptr));
  return Broken("exec");
}

// The dynamic loader shows its auxiliary vector when asked to, but not while it runs with more rights than
// its user.
int SystemSetuid(const Arguments&) {
  struct stat info {};
  const char* program = "/usr/bin/su";
  if (stat(program, &info) == -1 || (info.st_mode & S_ISUID) == 0 || info.st_uid != 0)
    return Absent("needs a setuid /usr/bin/su");
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) == -1) return Broken("pipe");
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    setenv("LD_SHOW_AUXV", "1", 1);
    execl(program, program, "--version", static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  std::string output;
  char bytes[512];
  for (ssize_t size; (size = read(ends[0], bytes, sizeof bytes)) > 0;)
    output.append(bytes, static_cast<size_t>(size));
  int status = -1;
  if (waitpid(child, &status, 0) != child || status != 0) return Broken("su --version");
  return output.find("AT_SECURE") == std::string::npos ? Ok() : Refused(EPERM);
}

int Environment(const Arguments& a) {
  const char* value = getenv(a[0].c_str());
  if (value == nullptr) return Refused(ENOENT);
  printf("read: %s\n", value);
  return Ok();
}
int InitialEnvironment(const Arguments& a) {
  const int fd = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
  std::string text(65536, '\0');
  const ssize_t size = read(fd, text.data(), text.size());
  if (size == -1) return Broken("environ");
  return text.find(a[0] + "=") == std::string::npos ? Refused(ENOENT) : Ok();
}

#if defined(__x86_64__)
// To come back from the kernel at all, whatever it says, is the act.
int Entry32(const Arguments&) {
  long result = 20;  // getpid
  asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
  return Ok();
}
int EntryX32(const Arguments&) {
  syscall(0x40000000L | SYS_getpid);
  return Ok();
}
#else
int Entry32(const Arguments&) { return Absent("needs x86_64"); }
int EntryX32(const Arguments&) { return Absent("needs x86_64"); }
#endif

constexpr Command kCommands[] = {
    {"push-input", 1, PushInput},
    {"console", 1, ControlConsole},
    {"line-discipline", 0, SetLineDiscipline},
    {"secure-bits", 0, SecureBits},
    {"keyctl", 0, Keyctl},
    {"add-key", 0, AddKey},
    {"request-key", 0, RequestKey},
    {"cgroup-join", 1, JoinCgroup},
    {"cgroup-make", 1, MakeCgroup},
    {"cgroup-clone", 1, CloneIntoCgroup},
    {"message-queue", 1, MakeMessageQueue},
    {"core", 1, DumpCore},
    {"effective", 1, Effective},
    {"setuid", 1, RunSetuid},
    {"system-setuid", 0, SystemSetuid},
    {"environment", 1, Environment},
    {"initial-environment", 1, InitialEnvironment},
    {"entry-i386", 0, Entry32},
    {"entry-x32", 0, EntryX32},
};

}  // namespace

int main(int argc, char** argv) { return attempt::Main(argc, argv, kCommands); }
