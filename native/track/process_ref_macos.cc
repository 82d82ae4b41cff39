#include <libproc.h>
#include <sys/proc_info.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "track/process_ref.h"

namespace spty {
namespace {

constexpr uint64_t kMicroseconds = 1'000'000;

bool ReadBsdInfo(pid_t pid, proc_bsdinfo* info) {
  // The second argument of arg 1: also zombies.
  return proc_pidinfo(pid, PROC_PIDTBSDINFO, 1, info, sizeof *info) == static_cast<int>(sizeof *info);
}

char StateOf(uint32_t status) {
  switch (status) {
    case 1:  // SIDL
      return 'I';
    case 2:  // SRUN
      return 'R';
    case 3:  // SSLEEP
      return 'S';
    case 4:  // SSTOP
      return 'T';
    case 5:  // SZOMB
      return 'Z';
    default:
      return '?';
  }
}

}  // namespace

// KERN_PROCARGS2: an int with the number of arguments, the path of the program, padding, then each argument
// with its NUL, and then the environment.
std::vector<std::string> ArgumentsOf(const ProcessInfo& process) {
  int most = 0;
  size_t size = sizeof most;
  int name_most[] = {CTL_KERN, KERN_ARGMAX};
  if (sysctl(name_most, 2, &most, &size, nullptr, 0) == -1 || most <= 0) return {};
  std::string text(static_cast<size_t>(most), '\0');
  size = text.size();
  int name[] = {CTL_KERN, KERN_PROCARGS2, process.pid};
  if (sysctl(name, 3, text.data(), &size, nullptr, 0) == -1 || size < sizeof(int)) return {};
  int count = 0;
  memcpy(&count, text.data(), sizeof count);
  size_t at = sizeof count;
  while (at < size && text[at] != '\0') ++at;
  while (at < size && text[at] == '\0') ++at;
  std::vector<std::string> arguments;
  while (count-- > 0 && at < size) {
    const size_t end = text.find('\0', at);
    const size_t stop = end == std::string::npos || end > size ? size : end;
    arguments.push_back(text.substr(at, stop - at));
    at = stop + 1;
  }
  return arguments;
}

std::optional<ProcessInfo> ReadProcess(pid_t pid) {
  proc_bsdinfo bsd{};
  if (!ReadBsdInfo(pid, &bsd)) return std::nullopt;
  ProcessInfo info;
  info.pid = pid;
  info.parent = static_cast<pid_t>(bsd.pbi_ppid);
  info.start_ticks = bsd.pbi_start_tvsec * kMicroseconds + bsd.pbi_start_tvusec;
  const char* name = bsd.pbi_name[0] != '\0' ? bsd.pbi_name : bsd.pbi_comm;
  info.name = name;
  info.state = StateOf(bsd.pbi_status);
  proc_taskinfo task{};
  if (proc_pidinfo(pid, PROC_PIDTASKINFO, 0, &task, sizeof task) == static_cast<int>(sizeof task)) {
    info.cpu_ticks = task.pti_total_user + task.pti_total_system;
    info.rss_bytes = task.pti_resident_size;
  }
  return info;
}

// One for the whole machine; and a start time is that of the clock, so that no two boots have the same.
std::string OwnerPlace() { return "here"; }

uint64_t StartTimeOf(pid_t pid) {
  proc_bsdinfo bsd{};
  return ReadBsdInfo(pid, &bsd) ? bsd.pbi_start_tvsec * kMicroseconds + bsd.pbi_start_tvusec : 0;
}

}  // namespace spty
