// The C library functions that the keeper uses, on top of the kernel: nothing more. A function that is
// missing here is a link error, and most are one line. Deliberately without libc headers: names and binary
// interfaces are what counts, and these are the same for glibc and musl on 64-bit Linux. Single-threaded:
// there is one errno.
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "libc/system_call.h"

namespace {

using spty::libc::SystemCall;
using spty::libc::Word;

constexpr size_t kKernelSetBytes = 8;
constexpr int kSignalCount = 64;
constexpr int kInvalid = 22;      // EINVAL
constexpr int kChildSignal = 17;  // SIGCHLD; <linux/signal.h> would bring a struct named sigaction
#if defined(__x86_64__)
constexpr unsigned long kHasRestorer = 0x04000000;  // SA_RESTORER
#endif

int error_number = 0;

// What a libc function answers: -1 and errno instead of a negative errno.
long Answer(long result) {
  if (result >= 0 || result < -4095) return result;
  error_number = static_cast<int>(-result);
  return -1;
}

int AnswerInt(long result) { return static_cast<int>(Answer(result)); }

// As libc lays it out for programs, and as the kernel wants it.
struct UserSignalSet {
  uint64_t words[16];
};
struct UserAction {
  uintptr_t handler;
  UserSignalSet mask;
  int flags;
  uintptr_t restorer;
};
struct KernelAction {
  uintptr_t handler;
  unsigned long flags;
  uintptr_t restorer;
  uint64_t mask;
};

int ChangeSet(UserSignalSet* set, int number, bool add) {
  if (number < 1 || number > kSignalCount) return AnswerInt(-kInvalid);
  const uint64_t bit = uint64_t{1} << (number - 1);
  set->words[0] = add ? set->words[0] | bit : set->words[0] & ~bit;
  return 0;
}

}  // namespace

#if defined(__x86_64__)
// Where a signal handler returns to. aarch64 has this in its vDSO.
extern "C" void spty_restore();
__asm__(
    ".text\n.globl spty_restore\n.hidden spty_restore\n.type spty_restore, @function\nspty_restore:\n"
    "  movl $15, %eax\n  syscall\n.size spty_restore, . - spty_restore\n");
#endif

extern "C" {

int* __errno_location() { return &error_number; }

// ---- files
// --------------------------------------------------------------------------------------------------------
long read(int fd, void* into, size_t size) {
  return Answer(SystemCall(__NR_read, fd, Word(into), static_cast<long>(size)));
}
long write(int fd, const void* from, size_t size) {
  return Answer(SystemCall(__NR_write, fd, Word(from), static_cast<long>(size)));
}
int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = (flags & O_CREAT) != 0 ? va_arg(rest, unsigned) : 0;
  va_end(rest);
  return AnswerInt(SystemCall(__NR_openat, AT_FDCWD, Word(path), flags, static_cast<long>(mode)));
}
int close(int fd) { return AnswerInt(SystemCall(__NR_close, fd)); }
long lseek(int fd, long offset, int whence) { return Answer(SystemCall(__NR_lseek, fd, offset, whence)); }
int pipe2(int* ends, int flags) { return AnswerInt(SystemCall(__NR_pipe2, Word(ends), flags)); }
int dup2(int from, int to) {
  // dup3 refuses equal numbers; dup2 must answer with the number if it is open.
  if (from != to) return AnswerInt(SystemCall(__NR_dup3, from, to, 0));
  const long flags = SystemCall(__NR_fcntl, from, F_GETFD);
  return flags < 0 ? AnswerInt(flags) : to;
}
int fcntl(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  const long argument = va_arg(rest, long);
  va_end(rest);
  return AnswerInt(SystemCall(__NR_fcntl, fd, command, argument));
}
int ioctl(int fd, unsigned long request, ...) {
  va_list rest;
  va_start(rest, request);
  const long argument = va_arg(rest, long);
  va_end(rest);
  return AnswerInt(SystemCall(__NR_ioctl, fd, static_cast<long>(request), argument));
}
int chdir(const char* path) { return AnswerInt(SystemCall(__NR_chdir, Word(path))); }
int poll(void* watched, unsigned long count, int timeout_ms) {
  const long timeout[2] = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
  return AnswerInt(SystemCall(__NR_ppoll, Word(watched), static_cast<long>(count),
                              timeout_ms < 0 ? 0 : Word(timeout), 0, kKernelSetBytes));
}

// ---- sockets
// ------------------------------------------------------------------------------------------------------
long recvmsg(int fd, void* message, int flags) {
  return Answer(SystemCall(__NR_recvmsg, fd, Word(message), flags));
}
long sendmsg(int fd, const void* message, int flags) {
  return Answer(SystemCall(__NR_sendmsg, fd, Word(message), flags));
}
// glibc's CMSG_NXTHDR is a call in some of its versions.
struct ControlMessage {
  size_t length;
  int level;
  int type;
};
struct Message {
  void* name;
  uint32_t name_length;
  void* parts;
  size_t part_count;
  char* control;
  size_t control_length;
  int flags;
};
ControlMessage* __cmsg_nxthdr(Message* message, ControlMessage* current) {
  const size_t at = static_cast<size_t>(reinterpret_cast<char*>(current) - message->control);
  const size_t left = message->control_length - at;
  if (current->length < sizeof *current || current->length > left) return nullptr;
  const size_t step = (current->length + sizeof(size_t) - 1) & ~(sizeof(size_t) - 1);
  if (step > left || left - step < sizeof *current) return nullptr;
  auto* next = reinterpret_cast<ControlMessage*>(reinterpret_cast<char*>(current) + step);
  return next->length < sizeof *next || next->length > left - step ? nullptr : next;
}

// ---- memory
// -------------------------------------------------------------------------------------------------------
void* mmap(void* address, size_t size, int protection, int flags, int fd, long offset) {
  return reinterpret_cast<void*>(
      Answer(SystemCall(__NR_mmap, Word(address), static_cast<long>(size), protection, flags, fd, offset)));
}
int munmap(void* address, size_t size) {
  return AnswerInt(SystemCall(__NR_munmap, Word(address), static_cast<long>(size)));
}

// ---- processes
// ----------------------------------------------------------------------------------------------------
int fork() { return AnswerInt(SystemCall(__NR_clone, kChildSignal)); }
int execve(const char* path, char* const* argv, char* const* env) {
  return AnswerInt(SystemCall(__NR_execve, Word(path), Word(argv), Word(env)));
}
[[noreturn]] void _exit(int status) {
  for (;;) SystemCall(__NR_exit_group, status);
}
int waitpid(int pid, int* status, int options) {
  return AnswerInt(SystemCall(__NR_wait4, pid, Word(status), options, 0));
}
int kill(int pid, int number) { return AnswerInt(SystemCall(__NR_kill, pid, number)); }
int getpid() { return AnswerInt(SystemCall(__NR_getpid)); }
int setsid() { return AnswerInt(SystemCall(__NR_setsid)); }
int setuid(unsigned uid) { return AnswerInt(SystemCall(__NR_setuid, uid)); }
int setgid(unsigned gid) { return AnswerInt(SystemCall(__NR_setgid, gid)); }
int setgroups(size_t count, const unsigned* groups) {
  return AnswerInt(SystemCall(__NR_setgroups, static_cast<long>(count), Word(groups)));
}
int prctl(int option, ...) {
  va_list rest;
  va_start(rest, option);
  long argument[4];
  for (long& each : argument) each = va_arg(rest, long);
  va_end(rest);
  return AnswerInt(SystemCall(__NR_prctl, option, argument[0], argument[1], argument[2], argument[3]));
}
long syscall(long number, ...) {
  va_list rest;
  va_start(rest, number);
  long argument[6];
  for (long& each : argument) each = va_arg(rest, long);
  va_end(rest);
  return Answer(
      SystemCall(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]));
}

// ---- signals
// ------------------------------------------------------------------------------------------------------
int sigemptyset(UserSignalSet* set) {
  *set = {};
  return 0;
}
int sigfillset(UserSignalSet* set) {
  *set = {};
  set->words[0] = ~uint64_t{0};
  return 0;
}
int sigaddset(UserSignalSet* set, int number) { return ChangeSet(set, number, true); }
int sigdelset(UserSignalSet* set, int number) { return ChangeSet(set, number, false); }
int sigprocmask(int how, const UserSignalSet* set, UserSignalSet* old) {
  if (old != nullptr) *old = {};
  return AnswerInt(SystemCall(__NR_rt_sigprocmask, how, Word(set), Word(old), kKernelSetBytes));
}
int sigaction(int number, const UserAction* action, UserAction* old) {
  KernelAction wanted{};
  KernelAction previous{};
  if (action != nullptr) {
    wanted = {action->handler, static_cast<unsigned long>(action->flags), 0, action->mask.words[0]};
#if defined(__x86_64__)
    wanted.flags |= kHasRestorer;
    wanted.restorer = reinterpret_cast<uintptr_t>(&spty_restore);
#endif
  }
  const long result = SystemCall(__NR_rt_sigaction, number, action != nullptr ? Word(&wanted) : 0,
                                 old != nullptr ? Word(&previous) : 0, kKernelSetBytes);
  if (result == 0 && old != nullptr) {
    *old = {previous.handler, {{previous.mask}}, static_cast<int>(previous.flags), previous.restorer};
  }
  return AnswerInt(result);
}

// What the same names become with _FILE_OFFSET_BITS=64, which changes nothing on a 64-bit system.
int open64(const char* path, int flags, ...) __attribute__((alias("open")));
long lseek64(int fd, long offset, int whence) __attribute__((alias("lseek")));
int fcntl64(int fd, int command, ...) __attribute__((alias("fcntl")));
void* mmap64(void* address, size_t size, int protection, int flags, int fd, long offset)
    __attribute__((alias("mmap")));

}  // extern "C"
