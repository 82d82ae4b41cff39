// There are no files to keep here.
#include <libproc.h>

#include "track/process_reader.h"

namespace spty {

struct ProcessReader::Files {};

void ProcessReader::MakeRoom() {}
bool ProcessReader::has_room() { return true; }
ProcessReader::ProcessReader(Keep) {}
ProcessReader::~ProcessReader() = default;
void ProcessReader::Begin() {}
void ProcessReader::Forget() {}
std::optional<ProcessInfo> ProcessReader::Read(pid_t pid) { return ReadProcess(pid); }
std::vector<std::string> ProcessReader::ArgumentsOf(const ProcessInfo& process) {
  return spty::ArgumentsOf(process);
}

std::vector<ProcessInfo> ProcessReader::DescendantsOf(pid_t pid) {
  std::vector<pid_t> pids;
  const auto add_children = [&](pid_t parent) {
    std::vector<pid_t> children(64);
    for (;;) {
      const int count =
          proc_listchildpids(parent, children.data(), static_cast<int>(children.size() * sizeof(pid_t)));
      if (count <= 0) return;
      if (static_cast<size_t>(count) < children.size()) {
        pids.insert(pids.end(), children.begin(), children.begin() + count);
        return;
      }
      children.resize(children.size() * 2);
    }
  };
  add_children(pid);
  std::vector<ProcessInfo> found;
  for (size_t i = 0; i < pids.size(); ++i) {
    add_children(pids[i]);
    if (auto info = Read(pids[i])) found.push_back(std::move(*info));
  }
  return found;
}

// There is no way to hold a process here, so that nobody is killed by a number that was read.
size_t KillDescendantsOf(pid_t pid) {
  return ProcessReader(ProcessReader::Keep::kNothing).DescendantsOf(pid).size();
}

}  // namespace spty
