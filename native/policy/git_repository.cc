#include "policy/git_repository.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "policy/path_text.h"
#include "policy/small_file.h"
#include "settings/text.h"

namespace spty {
namespace {

constexpr std::string_view kCommandSources[] = {
    "config",  "config.worktree", "hooks",     "info",   "modules",      "worktrees",
    "remotes", "branches",        "commondir", "gitdir", "rebase-merge", "rebase-apply"};

std::string Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

// A line may begin with the header of its section.
std::string_view WithoutHeader(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos || line[begin] != '[') return line;
  bool quoted = false;
  for (size_t at = begin + 1; at < line.size(); ++at) {
    if (quoted && line[at] == '\\')
      ++at;
    else if (line[at] == '"')
      quoted = !quoted;
    else if (line[at] == ']' && !quoted)
      return line.substr(at + 1);
  }
  return {};
}

// The value that begins at `at`, which is moved to the next line: quotes, backslashes, comments, and lines
// that go on, as Git reads them.
std::string ReadConfigValue(std::string_view text, size_t& at) {
  std::string value;
  size_t keep = 0;  // what was quoted or escaped is not trimmed
  bool quoted = false;
  bool comment = false;
  for (; at < text.size() && text[at] != '\n'; ++at) {
    const char c = text[at];
    if (comment) continue;
    if (c == '\\' && at + 1 < text.size()) {
      const char next = text[++at];
      if (next == '\n') continue;
      value += next == 'n' ? '\n' : next == 't' ? '\t' : next == 'b' ? '\b' : next;
      keep = value.size();
    } else if (c == '"') {
      quoted = !quoted;
      keep = value.size();
    } else if ((c == '#' || c == ';') && !quoted) {
      comment = true;
    } else if (!value.empty() || quoted || (c != ' ' && c != '\t')) {
      value += c;
      if (quoted) keep = value.size();
    }
  }
  ++at;
  const size_t last = value.find_last_not_of(" \t\r\n");
  value.resize(std::max(keep, last == std::string::npos ? 0 : last + 1));
  return value;
}

// The values of `key = value` lines, whatever their section. Enough for core.worktree and submodule.*.path.
std::vector<std::string> ConfigValues(const std::string& text, std::string_view key) {
  std::vector<std::string> values;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = WithoutHeader(std::string_view(text).substr(at, end - at));
    const size_t start = end - line.size();
    at = end + 1;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    std::string name = Trim(line.substr(0, equals));
    std::transform(name.begin(), name.end(), name.begin(), AsciiLower);
    const bool comment = name.starts_with('#') || name.starts_with(';');
    if (comment) continue;
    // Also of other keys: their values may go on in the next line, which is no line of its own then.
    at = start + equals + 1;
    std::string value = ReadConfigValue(text, at);
    if (name == key) values.push_back(std::move(value));
  }
  return values;
}

// The canonical form of a path found in a Git file; empty if nothing is there.
std::string CanonicalFrom(const std::string& base, const std::string& text) {
  if (text.empty() || text.find('\0') != std::string::npos) return {};
  const Result<PinnedPath> pin = PinPath(text.starts_with('/') ? text : JoinPath(base, text));
  return pin.ok() ? pin.value().path : std::string();
}

std::string FirstLine(const std::string& path) {
  const std::optional<std::string> text = ReadSmallFile(path);
  return text ? Trim(text->substr(0, text->find('\n'))) : std::string();
}

bool Exists(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0;
}

// HEAD, and objects and refs either here or in the common directory.
bool LooksLikeGitDir(const GitRepository& repo) {
  return Exists(JoinPath(repo.git_dir, "HEAD")) && Exists(JoinPath(repo.common_dir, "objects")) &&
         Exists(JoinPath(repo.common_dir, "refs"));
}

// A linked worktree is one that its main repository knows: <common>/worktrees/<name>, with a file that names
// our .git.
bool IsKnownWorktree(const GitRepository& repo) {
  if (ParentOf(repo.git_dir) != JoinPath(repo.common_dir, "worktrees")) return false;
  return CanonicalFrom(repo.git_dir, FirstLine(JoinPath(repo.git_dir, "gitdir"))) == repo.link;
}

// A submodule's Git directory names its working tree in core.worktree.
bool NamesWorktree(const GitRepository& repo) {
  const std::optional<std::string> config = ReadSmallFile(JoinPath(repo.git_dir, "config"));
  if (!config) return false;
  const std::vector<std::string> values = ConfigValues(*config, "worktree");
  return !values.empty() && CanonicalFrom(repo.git_dir, values.back()) == repo.worktree;
}

void Classify(GitRepository& repo) {
  const std::string common = FirstLine(JoinPath(repo.git_dir, "commondir"));
  repo.common_dir = common.empty() ? repo.git_dir : CanonicalFrom(repo.git_dir, common);
  if (repo.common_dir.empty()) repo.common_dir = repo.git_dir;
  if (repo.common_dir != repo.git_dir) {
    repo.kind = RepositoryKind::kLinkedWorktree;
    repo.verified = LooksLikeGitDir(repo) && IsKnownWorktree(repo);
  } else if (repo.link_is_directory) {
    repo.kind = RepositoryKind::kMain;
    repo.verified = true;
  } else {
    repo.kind = RepositoryKind::kSubmodule;
    repo.verified = LooksLikeGitDir(repo) && NamesWorktree(repo);
  }
}

Result<GitRepository> Inspect(const std::string& worktree) {
  GitRepository repo;
  repo.worktree = worktree;
  repo.link = JoinPath(worktree, ".git");
  struct stat info {};
  if (lstat(repo.link.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return repo;
    return Error{Stage::kPolicy, errno, repo.link};
  }
  repo.link_is_directory = S_ISDIR(info.st_mode);
  const std::string target = S_ISREG(info.st_mode) ? FirstLine(repo.link) : std::string();
  if (target.starts_with("gitdir:")) {
    repo.git_dir = CanonicalFrom(worktree, Trim(target.substr(7)));
  } else {
    Result<PinnedPath> pin = PinPath(repo.link);
    if (pin.ok()) {
      repo.git_dir = std::move(pin).value().path;
    } else if (pin.error().err != ENOENT) {
      return pin.error();
    }
  }
  if (!repo.git_dir.empty()) Classify(repo);
  return repo;
}

bool IsKnown(const std::vector<GitRepository>& found, const std::string& worktree) {
  return std::any_of(found.begin(), found.end(),
                     [&](const GitRepository& repo) { return repo.worktree == worktree; });
}

// The list is repository content, so it is believed only as far as it makes things tighter, and not
// endlessly.
Result<void> AddSubmodules(const std::string& worktree, int depth, bool must_be_complete,
                           std::vector<GitRepository>& found) {
  const std::string name = JoinPath(worktree, ".gitmodules");
  Result<std::optional<std::string>> list = ReadSmallFileOrFail(name);
  if (!list.ok() && must_be_complete) {
    return Error{Stage::kPolicy, list.error().err == EFBIG ? E2BIG : list.error().err, name};
  }
  if (!list.ok() || !list.value()) return {};
  for (const std::string& path : ConfigValues(*list.value(), "path")) {
    const std::string place = CanonicalFrom(worktree, path);
    if (path.starts_with('/') || !IsWithin(place, worktree) || place == worktree || IsKnown(found, place))
      continue;
    if (depth == 0 || found.size() >= kMaxRepositories) {
      return must_be_complete ? Result<void>(Error{Stage::kPolicy, E2BIG, name}) : Result<void>();
    }
    TRY_ASSIGN(GitRepository repo, Inspect(place));
    found.push_back(std::move(repo));
    TRY(AddSubmodules(place, depth - 1, must_be_complete, found));
  }
  return {};
}

// The repository around a project that is only a part of it. Like Git we do not trust a ".git" of somebody
// else.
Result<void> AddEnclosing(const GitSearch& search, std::vector<GitRepository>& found) {
  for (std::string place = ParentOf(search.project); place != "/" && place != search.home;
       place = ParentOf(place)) {
    struct stat info {};
    if (lstat(JoinPath(place, ".git").c_str(), &info) != 0) continue;
    TRY_ASSIGN(GitRepository repo, Inspect(place));
    if (info.st_uid != geteuid()) repo.verified = false;
    found.push_back(std::move(repo));
    break;
  }
  return {};
}

}  // namespace

std::span<const std::string_view> GitCommandSources() { return kCommandSources; }

bool IsGitCommandSource(std::string_view name) {
  return std::find(std::begin(kCommandSources), std::end(kCommandSources), name) != std::end(kCommandSources);
}

Result<std::vector<GitRepository>> FindRepositories(const GitSearch& search) {
  std::vector<GitRepository> found;
  if (!search.project.empty()) {
    TRY_ASSIGN(GitRepository own, Inspect(search.project));
    const bool absent = own.kind == RepositoryKind::kAbsent;
    found.push_back(std::move(own));
    if (absent) TRY(AddEnclosing(search, found));
    TRY(AddSubmodules(search.project, kMaxSubmoduleDepth, search.must_be_complete, found));
  }
  for (const std::string& worktree : search.worktrees) {
    if (IsKnown(found, worktree)) continue;
    TRY_ASSIGN(GitRepository repo, Inspect(worktree));
    found.push_back(std::move(repo));
    TRY(AddSubmodules(worktree, kMaxSubmoduleDepth, search.must_be_complete, found));
  }
  return found;
}

}  // namespace spty
