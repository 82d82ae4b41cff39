#include "track/proc_files_linux.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <memory>

#include "base/eintr.h"
#include "base/fd.h"
#include "track/take_number.h"

namespace spty {
namespace {

// A number that may be negative, of which nobody wants to know how much.
bool TakeField(std::string_view& text, uint64_t* field) {
  if (TakeNumber(text, field)) return true;
  int64_t negative = 0;
  return TakeNumber(text, &negative);
}

}  // namespace

std::string ReadWhole(int fd, size_t limit) {
  std::string text;
  while (text.size() < limit) {
    char buffer[4096];
    const auto at = static_cast<off_t>(text.size());
    const ssize_t got = RetryEintr([&] { return pread(fd, buffer, sizeof buffer, at); });
    if (got <= 0) break;
    text.append(buffer, static_cast<size_t>(got));
    // These files hand out a page before they hand out less than all, so that this was the end.
    if (static_cast<size_t>(got) < sizeof buffer / 2) break;
  }
  return text;
}

std::string ReadWhole(const char* path, size_t limit) {
  const Fd fd(open(path, O_RDONLY | O_CLOEXEC));
  return fd.valid() ? ReadWhole(fd.get(), limit) : std::string();
}

// proc(5), /proc/pid/stat: the name stands in parentheses and may contain anything, so the last one counts.
std::optional<ProcessInfo> ParseStat(pid_t pid, const std::string& text) {
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

void ParseChildren(std::string_view text, std::vector<pid_t>* children) {
  for (pid_t child; TakeNumber(text, &child);) children->push_back(child);
}

void TakeChildrenOfThreads(pid_t pid, std::vector<pid_t>* children) {
  const ProcPath tasks("/proc/%d/task", pid);
  struct CloseDir {
    void operator()(DIR* dir) const { closedir(dir); }
  };
  const std::unique_ptr<DIR, CloseDir> dir(opendir(tasks.c_str()));
  while (const dirent* task = dir == nullptr ? nullptr : readdir(dir.get())) {
    if (task->d_name[0] == '.') continue;
    const std::string path = std::string(tasks.c_str()) + "/" + task->d_name + "/children";
    ParseChildren(ReadWhole(path.c_str(), kLongestChildren), children);
  }
}

}  // namespace spty
