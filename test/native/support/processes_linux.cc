#include "support/processes_linux.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/eintr.h"
#include "base/fd.h"

namespace spty {
namespace {

namespace fs = std::filesystem;
constexpr int kPatienceMs = 20'000;

std::string ProcPath(pid_t pid, const char* name) { return "/proc/" + std::to_string(pid) + "/" + name; }

// A thread that was joined stays listed until the kernel has finished its exit: joining waits for a word of
// memory that is cleared in the middle of it. PF_EXITING is set before that word is.
bool IsEnding(const fs::path& task) {
  constexpr unsigned long kPfExiting = 0x4;
  constexpr int kFlagsAfterName = 7;
  std::ifstream file(task / "stat");
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return true;
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  for (int i = 0; i < kFlagsAfterName; ++i) fields >> field;
  return (std::strtoul(field.c_str(), nullptr, 10) & kPfExiting) != 0;
}

}  // namespace

std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code error;
  for (const auto& task : fs::directory_iterator(ProcPath(pid, "task"), error)) {
    std::ifstream list(task.path() / "children");
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  std::sort(children.begin(), children.end());
  return children;
}

pid_t ParentOf(pid_t pid) {
  std::string parent = StatusOf(pid, "PPid");
  return parent.empty() ? 0 : std::stoi(parent);
}

std::map<int, std::string> DescriptorsOf(pid_t pid) {
  std::map<int, std::string> descriptors;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(ProcPath(pid, "fd"), error)) {
    std::string target = fs::read_symlink(entry.path(), error).string();
    descriptors[std::stoi(entry.path().filename().string())] = target;
  }
  return descriptors;
}

std::map<int, std::string> OwnDescriptors() {
  std::map<int, std::string> descriptors = DescriptorsOf(getpid());
  // The directory that was being read.
  std::string listing = ProcPath(getpid(), "fd");
  std::erase_if(descriptors, [&](const auto& entry) { return entry.second == listing; });
  return descriptors;
}

char StateOf(pid_t pid) {
  std::string state = StatusOf(pid, "State");
  return state.empty() ? '\0' : state[0];
}

size_t OwnThreads() {
  size_t count = 0;
  for (const auto& task : fs::directory_iterator(ProcPath(getpid(), "task")))
    count += IsEnding(task.path()) ? 0 : 1;
  return count;
}

std::string StatusOf(pid_t pid, const std::string& field) {
  std::ifstream file(ProcPath(pid, "status"));
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, field.size() + 1, field + ":") != 0) continue;
    size_t start = line.find_first_not_of(" \t", field.size() + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

bool WaitForDeath(pid_t pid) {
  Fd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process.valid()) return Eventually([&] { return !IsRunning(pid); });
  pollfd watched{process.get(), POLLIN, 0};
  return RetryEintr([&] { return poll(&watched, 1, kPatienceMs); }) == 1;
}

}  // namespace spty
