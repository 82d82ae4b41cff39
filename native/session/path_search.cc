#include "session/path_search.h"

namespace spty {
namespace {

constexpr std::string_view kDefaultPath = "/bin:/usr/bin";  // what glibc's execvp uses

std::string_view FindPath(const std::vector<std::string>& env) {
  constexpr std::string_view kName = "PATH=";
  for (std::string_view entry : env) {
    if (entry.starts_with(kName)) return entry.substr(kName.size());
  }
  return kDefaultPath;
}

}  // namespace

std::vector<std::string> ProgramCandidates(std::string_view file, const std::vector<std::string>& env) {
  if (file.find('/') != std::string_view::npos) return {std::string(file)};
  std::vector<std::string> candidates;
  std::string_view path = FindPath(env);
  for (size_t start = 0; start <= path.size();) {
    size_t end = path.find(':', start);
    if (end == std::string_view::npos) end = path.size();
    std::string_view directory = path.substr(start, end - start);
    std::string candidate(directory.empty() ? "." : directory);
    candidate += '/';
    candidate += file;
    candidates.push_back(std::move(candidate));
    start = end + 1;
  }
  return candidates;
}

}  // namespace spty
