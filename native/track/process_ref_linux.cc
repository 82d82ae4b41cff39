#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/eintr.h"
#include "base/fd.h"
#include "track/process_ref.h"
#include "track/take_number.h"
#include "uapi/process_files.h"

namespace spty {
namespace {

// "/proc/<pid>" and more, without the heap: a list of processes takes thousands of these.
class ProcPath {
 public:
  ProcPath(const char* format, pid_t pid) { snprintf(text_, sizeof text_, format, pid, pid); }
  const char* c_str() const { return text_; }

 private:
  char text_[64];
};

// A whole file of /proc, up to a limit; empty if it cannot be read.
std::string ReadWhole(const char* path, size_t limit) {
  const Fd fd(open(path, O_RDONLY | O_CLOEXEC));
  std::string text;
  while (fd.valid() && text.size() < limit) {
    char buffer[4096];
    const ssize_t got = RetryEintr([&] { return read(fd.get(), buffer, sizeof buffer); });
    if (got <= 0) break;
    text.append(buffer, static_cast<size_t>(got));
    // These files hand out a page before they hand out less than all, so that this was the end.
    if (static_cast<size_t>(got) < sizeof buffer / 2) break;
  }
  return text;
}

std::vector<std::string> SplitArguments(std::string_view text) {
  std::vector<std::string> argv;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\0', at);
    argv.emplace_back(text.substr(at, end - at));
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return argv;
}

constexpr size_t kLongestChildren = 1 << 20;

void TakeChildren(const char* path, std::vector<pid_t>* children) {
  const std::string text = ReadWhole(path, kLongestChildren);
  std::string_view rest = text;
  for (pid_t child; TakeNumber(rest, &child);) children->push_back(child);
}

// Its direct children, all threads' together.
void TakeChildrenOf(pid_t pid, uint32_t threads, std::vector<pid_t>* children) {
  // Most have one thread, which is named like the process.
  if (threads == 1) return TakeChildren(ProcPath("/proc/%d/task/%d/children", pid).c_str(), children);
  const ProcPath tasks("/proc/%d/task", pid);
  struct CloseDir {
    void operator()(DIR* dir) const { closedir(dir); }
  };
  const std::unique_ptr<DIR, CloseDir> dir(opendir(tasks.c_str()));
  while (const dirent* task = dir == nullptr ? nullptr : readdir(dir.get())) {
    if (task->d_name[0] == '.') continue;
    TakeChildren((std::string(tasks.c_str()) + "/" + task->d_name + "/children").c_str(), children);
  }
}

// FNV-1a.
std::string Digest(const std::string& text) {
  uint32_t hash = 0x811c9dc5;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x01000193;
  char digits[9];
  snprintf(digits, sizeof digits, "%08x", hash);
  return digits;
}

// Which namespace of a kind we are in; empty where the kernel has none of that kind.
std::optional<std::string> OwnNamespace(const char* link) {
  char name[64];
  const ssize_t size = readlink(link, name, sizeof name);
  if (size > 0) return std::string(name, static_cast<size_t>(size));
  return errno == ENOENT ? std::optional<std::string>("") : std::nullopt;
}

std::string ReadPlace() {
  const auto pid = OwnNamespace("/proc/self/ns/pid");
  // Start times are told by the clock of the reader's (Linux 5.6).
  const auto time = OwnNamespace("/proc/self/ns/time");
  const std::string boot = ReadWhole("/proc/sys/kernel/random/boot_id", 64);
  if (!pid || pid->empty() || !time || boot.empty()) return kNoPlace;
  return Digest(*pid + *time + boot);
}

// A number that may be negative, of which nobody wants to know how much.
bool TakeField(std::string_view& text, uint64_t* field) {
  if (TakeNumber(text, field)) return true;
  int64_t negative = 0;
  return TakeNumber(text, &negative);
}

constexpr size_t kLongestStat = 4096;
constexpr size_t kLongestArguments = 1 << 16;
constexpr size_t kArgumentsAtOnce = 4096;

// What /proc/<pid>/cmdline would say, in one system call instead of three. 0 where that is to be asked: if we
// may not look into the process, if it has too many arguments, or has written another title over them.
size_t CopyArguments(const ProcessInfo& process, char (&text)[kArgumentsAtOnce]) {
  const uint64_t size = process.argv_end - process.argv_begin;
  if (process.argv_end <= process.argv_begin || size > sizeof text) return 0;
  const iovec to{text, size};
  const iovec from{reinterpret_cast<void*>(process.argv_begin), size};
  const ssize_t got = process_vm_readv(process.pid, &to, 1, &from, 1, 0);
  return got == static_cast<ssize_t>(size) && text[size - 1] == '\0' ? size : 0;
}

}  // namespace

// proc(5), /proc/pid/stat: the name stands in parentheses and may contain anything, so the last one counts.
std::optional<ProcessInfo> ReadProcess(pid_t pid) {
  const std::string text = ReadWhole(ProcPath("/proc/%d/stat", pid).c_str(), kLongestStat);
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close + 3 >= text.size())
    return std::nullopt;
  ProcessInfo info;
  info.pid = pid;
  info.name = text.substr(open + 1, close - open - 1);
  info.state = text[close + 2];
  std::string_view rest = std::string_view(text).substr(close + 3);
  uint64_t fields[46] = {};  // from the fourth (parent) to the forty-ninth (end of the command line)
  size_t known = 0;
  while (known < std::size(fields) && TakeField(rest, &fields[known])) ++known;
  if (known < 21) return std::nullopt;  // up to the resident pages, every kernel has them
  info.parent = static_cast<pid_t>(fields[0]);
  info.cpu_ticks = fields[10] + fields[11];
  info.threads = static_cast<uint32_t>(fields[16]);
  info.start_ticks = fields[18];
  info.rss_bytes = fields[20] * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  info.argv_begin = fields[44];
  info.argv_end = fields[45];
  return info;
}

std::vector<std::string> ArgumentsOf(const ProcessInfo& process) {
  char text[kArgumentsAtOnce];
  if (const size_t size = CopyArguments(process, text); size > 0)
    return SplitArguments(std::string_view(text, size));
  return SplitArguments(ReadWhole(ProcPath("/proc/%d/cmdline", process.pid).c_str(), kLongestArguments));
}

std::string OwnerPlace() {
  static std::mutex mutex;
  static std::string known;
  std::lock_guard lock(mutex);
  // A shortage of the moment is not to be remembered.
  if (known.empty() || known == kNoPlace) known = ReadPlace();
  return known;
}

uint64_t StartTimeOf(pid_t pid) {
  const auto info = ReadProcess(pid);
  return info ? info->start_ticks : 0;
}

std::vector<ProcessInfo> DescendantsOf(pid_t pid) {
  std::vector<ProcessInfo> found;
  std::vector<pid_t> pids;
  // The number of its threads is not worth another look.
  TakeChildrenOf(pid, 0, &pids);
  for (size_t i = 0; i < pids.size(); ++i) {
    auto info = ReadProcess(pids[i]);
    if (!info) continue;  // ended since; what it left is its parent's, or the keeper's by the next time
    TakeChildrenOf(info->pid, info->threads, &pids);
    found.push_back(std::move(*info));
  }
  return found;
}

size_t KillDescendantsOf(pid_t pid) {
  size_t alive = 0;
  for (const ProcessInfo& process : DescendantsOf(pid)) {
    if (process.state == 'Z') continue;
    ++alive;
    // Held before it is looked at again: whoever is signalled through it is the one that was found.
    const Fd held(static_cast<int>(syscall(uapi::kSysPidfdOpen, process.pid, 0)));
    if (held.valid() && StartTimeOf(process.pid) == process.start_ticks)
      syscall(uapi::kSysPidfdSendSignal, held.get(), SIGKILL, nullptr, 0);
  }
  return alive;
}

}  // namespace spty
