#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
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

std::vector<std::string> SplitArguments(const std::string& text) {
  std::vector<std::string> argv;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\0', at);
    argv.push_back(text.substr(at, end - at));
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

std::string ReadPlace() {
  char name[64];
  const ssize_t size = readlink("/proc/self/ns/pid", name, sizeof name);
  const std::string boot = ReadWhole("/proc/sys/kernel/random/boot_id", sizeof name);
  if (size <= 0 || boot.empty()) return kNoPlace;
  return Digest(std::string(name, static_cast<size_t>(size)) + boot);
}

constexpr size_t kLongestStat = 4096;
constexpr size_t kLongestArguments = 1 << 16;

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
  int64_t fields[21];  // from the fourth (parent) to the twenty-fourth (resident pages)
  for (int64_t& field : fields) {
    if (!TakeNumber(rest, &field)) return std::nullopt;
  }
  info.parent = static_cast<pid_t>(fields[0]);
  info.cpu_ticks = static_cast<uint64_t>(fields[10] + fields[11]);
  info.threads = static_cast<uint32_t>(fields[16]);
  info.start_ticks = static_cast<uint64_t>(fields[18]);
  info.rss_bytes = static_cast<uint64_t>(fields[20]) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return info;
}

std::vector<std::string> ArgumentsOf(pid_t pid) {
  return SplitArguments(ReadWhole(ProcPath("/proc/%d/cmdline", pid).c_str(), kLongestArguments));
}

const std::string& OwnerPlace() {
  static const std::string place = ReadPlace();
  return place;
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
