// Ways to files that a session was not given.
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/attempt.h"
#include "probes/ring_linux.h"

namespace {

using namespace attempt;

// Reads and shows what a descriptor leads to.
int Show(int fd) {
  if (fd == -1) return Refused();
  char text[256] = {};
  if (read(fd, text, sizeof text - 1) == -1) return Refused();
  for (char& c : text) {
    if (c == '\0' && &c < text + sizeof text - 1) c = ' ';
  }
  printf("read: %s\n", text);
  return Ok();
}

int Check(int result) { return result == -1 ? Refused() : Ok(); }
const char* At(const Arguments& arguments, size_t index) { return arguments[index].c_str(); }

int Read(const Arguments& a) { return Show(open(At(a, 0), O_RDONLY | O_CLOEXEC)); }
int ReadDescriptor(const Arguments& a) { return Show(atoi(At(a, 0))); }
int ReadLink(const Arguments& a) {
  char text[256] = {};
  return Check(static_cast<int>(readlink(At(a, 0), text, sizeof text - 1)));
}

int Write(const Arguments& a) {
  const int fd = open(At(a, 0), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  const std::string text = a.size() > 1 ? a[1] : "x";
  return fd == -1 ? Refused() : Check(static_cast<int>(write(fd, text.data(), text.size())));
}
int OpenBoth(const Arguments& a) { return Check(open(At(a, 0), O_RDWR | O_NOCTTY | O_CLOEXEC)); }
int OpenTruncating(const Arguments& a) { return Check(open(At(a, 0), O_WRONLY | O_TRUNC | O_CLOEXEC)); }
int Truncate(const Arguments& a) { return Check(truncate(At(a, 0), 0)); }
int Create(const Arguments& a) { return Check(open(At(a, 0), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)); }
int MakeDirectory(const Arguments& a) { return Check(mkdir(At(a, 0), 0700)); }
int MakeFifo(const Arguments& a) { return Check(mkfifo(At(a, 0), 0600)); }
int Unlink(const Arguments& a) { return Check(unlink(At(a, 0))); }
int RemoveDirectory(const Arguments& a) { return Check(rmdir(At(a, 0))); }
int Rename(const Arguments& a) { return Check(rename(At(a, 0), At(a, 1))); }
int Symlink(const Arguments& a) { return Check(symlink(At(a, 0), At(a, 1))); }
int Exchange(const Arguments& a) {
  constexpr unsigned kExchange = 2;
  return Check(static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, At(a, 0), AT_FDCWD, At(a, 1), kExchange)));
}

int Lease(const Arguments& a) {
  const int fd = open(At(a, 0), O_RDONLY | O_CLOEXEC);
  if (fd == -1) return Broken("open");
  if (fcntl(fd, F_SETLEASE, F_WRLCK) == 0) return Ok();
  return errno == EINVAL ? Absent("needs a file system with leases") : Refused();
}

int List(const Arguments& a) {
  DIR* dir = opendir(At(a, 0));
  if (dir == nullptr) return Refused();
  while (const dirent* entry = readdir(dir)) printf("entry: %s\n", entry->d_name);
  return Ok();
}

// Each of these puts a second name for the file into the project, and then reads that.
int LinkAndRead(const Arguments& a) {
  if (link(At(a, 0), At(a, 1)) == -1) return Refused();
  return Show(open(At(a, 1), O_RDONLY | O_CLOEXEC));
}
int LinkDescriptor(const Arguments& a) {
  const int fd = open(At(a, 0), O_PATH | O_CLOEXEC);
  if (fd == -1) return Broken("O_PATH");
  if (linkat(fd, "", AT_FDCWD, At(a, 1), AT_EMPTY_PATH) == -1) {
    // Before 6.10 it took a capability.
    return errno == ENOENT ? Absent("needs linkat with AT_EMPTY_PATH (Linux 6.10)") : Refused();
  }
  return Show(open(At(a, 1), O_RDONLY | O_CLOEXEC));
}
int LinkThroughProc(const Arguments& a) {
  const int fd = open(At(a, 0), O_PATH | O_CLOEXEC);
  const std::string name = "/proc/self/fd/" + std::to_string(fd);
  if (linkat(AT_FDCWD, name.c_str(), AT_FDCWD, At(a, 1), AT_SYMLINK_FOLLOW) == -1) return Refused();
  return Show(open(At(a, 1), O_RDONLY | O_CLOEXEC));
}
int SymlinkAndRead(const Arguments& a) {
  if (symlink(At(a, 0), At(a, 1)) == -1) return Broken("symlink");
  return Show(open(At(a, 1), O_RDONLY | O_CLOEXEC));
}

int ChdirAndRead(const Arguments& a) {
  if (chdir(At(a, 0)) == -1) return Broken("chdir");
  return Show(open(At(a, 1), O_RDONLY | O_CLOEXEC));
}
int Reopen(const Arguments& a) {
  const int fd = open(At(a, 0), O_PATH | O_CLOEXEC);
  if (fd == -1) return Broken("O_PATH");
  return Show(open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDONLY | O_CLOEXEC));
}
int ReadInDirectory(const Arguments& a) {
  const int dir = open(At(a, 0), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (dir == -1) return Broken("O_PATH");
  return Show(openat(dir, At(a, 1), O_RDONLY | O_CLOEXEC));
}
int Temporary(const Arguments& a) { return Check(open(At(a, 0), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)); }

int ByHandle(const Arguments& a) {
  alignas(file_handle) char room[sizeof(file_handle) + MAX_HANDLE_SZ] = {};
  auto* handle = reinterpret_cast<file_handle*>(room);
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  if (name_to_handle_at(AT_FDCWD, At(a, 0), handle, &mount, 0) == -1)
    return Absent("needs a file system with handles");
  // Any descriptor of the file system will do, and the session has one: the project's.
  const int fs = open(At(a, 1), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fs == -1) return Broken("the project");
  return Show(open_by_handle_at(fs, handle, O_RDONLY));
}

int BindMount(const Arguments& a) {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) == -1) return Absent("needs user namespaces");
  if (mkdir(At(a, 1), 0700) == -1) return Broken("mkdir");
  if (mount(At(a, 0), At(a, 1), nullptr, MS_BIND, nullptr) == -1) return Refused();
  return Show(open((a[1] + "/" + a[2]).c_str(), O_RDONLY | O_CLOEXEC));
}
int Chroot(const Arguments& a) {
  if (chroot(At(a, 0)) == -1) return Broken("chroot");
  return Show(open(At(a, 1), O_RDONLY | O_CLOEXEC));
}

int Wait(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0 ? 0 : -1;
}

// The program must end with 0.
int Execute(const Arguments& a) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) == -1) return Broken("pipe");
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    execl(At(a, 0), At(a, 0), static_cast<char*>(nullptr));
    const int err = errno;
    _exit(write(ends[1], &err, sizeof err) == sizeof err ? 1 : 2);
  }
  close(ends[1]);
  int err = 0;
  if (read(ends[0], &err, sizeof err) == sizeof err) return Wait(child), Refused(err);
  return Wait(child) == 0 ? Ok() : Broken("the program");
}

// Runs this very program from memory, where no path decides about execution.
int ExecuteFromMemory(const Arguments& a) {
  const int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  const int memory = static_cast<int>(syscall(SYS_memfd_create, "probe", 1U));
  char bytes[65536];
  for (ssize_t size; (size = read(self, bytes, sizeof bytes)) > 0;) {
    if (write(memory, bytes, static_cast<size_t>(size)) != size) return Broken("memfd");
  }
  std::vector<char*> argv = {const_cast<char*>("memory")};
  for (const std::string& argument : a) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  fflush(stdout);
  syscall(SYS_execveat, memory, "", argv.data(), environ, AT_EMPTY_PATH);
  return Refused();
}
int Nothing(const Arguments&) { return Ok(); }

int OpenByRing(Ring& ring, const char* path, uint32_t flags) {
  RingRequest request{};
  request.opcode = kRingOpenat;
  request.fd = AT_FDCWD;
  request.address = reinterpret_cast<uint64_t>(path);
  request.operation_flags = flags;
  return ring.Do(request);
}
int ReadByRing(const Arguments& a) {
  Ring ring;
  if (const int err = ring.Open(); err != 0) return Refused(err);
  const int fd = OpenByRing(ring, At(a, 0), O_RDONLY);
  return fd < 0 ? Refused(-fd) : Show(fd);
}
int WriteByRing(const Arguments& a) {
  Ring ring;
  if (const int err = ring.Open(); err != 0) return Refused(err);
  const int fd = OpenByRing(ring, At(a, 0), O_WRONLY);
  if (fd < 0) return Refused(-fd);
  RingRequest request{};
  request.opcode = kRingWrite;
  request.fd = fd;
  request.address = reinterpret_cast<uint64_t>("x");
  request.length = 1;
  const int result = ring.Do(request);
  return result == 1 ? Ok() : Refused(-result);
}

// Any one of the first descriptors of a process: by its name in /proc, and what it stands for.
int OpenDescriptors(const Arguments& a) {
  int err = ENOENT;
  for (int number = 0; number < 64; ++number) {
    const std::string name = "/proc/" + a[0] + "/fd/" + std::to_string(number);
    char text[256];
    // A socket cannot be opened like that by anybody.
    if (open(name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) != -1 || errno == ENXIO) return Ok();
    if (errno != ENOENT) err = errno;
    if (readlink(name.c_str(), text, sizeof text) != -1) return Ok();
    if (errno != ENOENT) err = errno;
  }
  return Refused(err);
}

int Chmod(const Arguments& a) { return Check(chmod(At(a, 0), 0640)); }
int Utimes(const Arguments& a) { return Check(utimensat(AT_FDCWD, At(a, 0), nullptr, 0)); }
int Stat(const Arguments& a) {
  struct stat info;
  return Check(stat(At(a, 0), &info));
}
int Watch(const Arguments& a) { return Check(inotify_add_watch(inotify_init1(0), At(a, 0), IN_ALL_EVENTS)); }

constexpr Command kCommands[] = {
    {"read", 1, Read},
    {"read-fd", 1, ReadDescriptor},
    {"readlink", 1, ReadLink},
    {"write", 1, Write},
    {"open-both", 1, OpenBoth},
    {"open-truncating", 1, OpenTruncating},
    {"truncate", 1, Truncate},
    {"create", 1, Create},
    {"mkdir", 1, MakeDirectory},
    {"mkfifo", 1, MakeFifo},
    {"unlink", 1, Unlink},
    {"rmdir", 1, RemoveDirectory},
    {"rename", 2, Rename},
    {"exchange", 2, Exchange},
    {"symlink", 2, Symlink},
    {"list", 1, List},
    {"lease", 1, Lease},
    {"link-read", 2, LinkAndRead},
    {"link-fd-read", 2, LinkDescriptor},
    {"link-proc-read", 2, LinkThroughProc},
    {"symlink-read", 2, SymlinkAndRead},
    {"chdir-read", 2, ChdirAndRead},
    {"reopen", 1, Reopen},
    {"directory-read", 2, ReadInDirectory},
    {"tmpfile", 1, Temporary},
    {"handle", 2, ByHandle},
    {"bind", 3, BindMount},
    {"chroot", 2, Chroot},
    {"exec", 1, Execute},
    {"memory", 1, ExecuteFromMemory},
    {"nothing", 0, Nothing},
    {"ring-read", 1, ReadByRing},
    {"ring-write", 1, WriteByRing},
    {"open-descriptors", 1, OpenDescriptors},
    {"chmod", 1, Chmod},
    {"utimes", 1, Utimes},
    {"stat", 1, Stat},
    {"watch", 1, Watch},
};

}  // namespace

int main(int argc, char** argv) { return attempt::Main(argc, argv, kCommands); }
