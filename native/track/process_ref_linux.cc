#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string_view>

#include "base/eintr.h"
#include "base/fd.h"
#include "track/process_ref.h"
#include "track/take_number.h"

namespace spty {
namespace {

// A whole file of /proc, up to a limit; empty if it cannot be read.
std::string ReadWhole(const std::string& path, size_t limit) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  while (fd.valid() && text.size() < limit) {
    char buffer[4096];
    const ssize_t got = RetryEintr([&] { return read(fd.get(), buffer, sizeof buffer); });
    if (got <= 0) break;
    text.append(buffer, static_cast<size_t>(got));
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

// Its direct children, all threads' together.
std::vector<pid_t> DirectChildren(pid_t pid) {
  std::vector<pid_t> children;
  const std::string base = "/proc/" + std::to_string(pid) + "/task";
  struct CloseDir {
    void operator()(DIR* dir) const { closedir(dir); }
  };
  const std::unique_ptr<DIR, CloseDir> tasks(opendir(base.c_str()));
  if (tasks == nullptr) return children;
  while (const dirent* task = readdir(tasks.get())) {
    if (task->d_name[0] == '.') continue;
    const std::string text = ReadWhole(base + "/" + task->d_name + "/children", 1 << 20);
    std::string_view rest = text;
    for (pid_t child; TakeNumber(rest, &child);) children.push_back(child);
  }
  return children;
}

constexpr size_t kLongestStat = 4096;
constexpr size_t kLongestArguments = 1 << 16;

}  // namespace

// proc(5), /proc/pid/stat: the name stands in parentheses and may contain anything, so the last one counts.
std::optional<ProcessInfo> ReadProcess(pid_t pid, bool with_argv) {
  const std::string base = "/proc/" + std::to_string(pid);
  const std::string text = ReadWhole(base + "/stat", kLongestStat);
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
  info.start_ticks = static_cast<uint64_t>(fields[18]);
  info.rss_bytes = static_cast<uint64_t>(fields[20]) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (with_argv) info.argv = SplitArguments(ReadWhole(base + "/cmdline", kLongestArguments));
  return info;
}

uint64_t StartTimeOf(pid_t pid) {
  const auto info = ReadProcess(pid, false);
  return info ? info->start_ticks : 0;
}

std::vector<pid_t> DescendantsOf(pid_t pid) {
  std::vector<pid_t> found = DirectChildren(pid);
  for (size_t i = 0; i < found.size(); ++i) {
    for (pid_t child : DirectChildren(found[i])) found.push_back(child);
  }
  return found;
}

}  // namespace spty
