#include "policy/git_repository.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "policy/git_config.h"
#include "policy/path_text.h"
#include "policy/small_file.h"

namespace spty {
namespace {

constexpr std::string_view kCommandSources[] = {
    "config",  "config.worktree", "hooks",     "info",   "modules",      "worktrees",
    "remotes", "branches",        "commondir", "gitdir", "rebase-merge", "rebase-apply"};

bool IsDirectory(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool Exists(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0;
}

// HEAD, and objects and refs either here or in the common directory.
bool LooksLikeGitDir(const GitRepository& repo) {
  return Exists(JoinPath(repo.git_dir, "HEAD")) && IsDirectory(JoinPath(repo.common_dir, "objects")) &&
         IsDirectory(JoinPath(repo.common_dir, "refs"));
}

bool IsKnown(const std::vector<GitRepository>& found, const std::string& worktree) {
  return std::any_of(found.begin(), found.end(),
                     [&](const GitRepository& repo) { return repo.worktree == worktree; });
}

class Finder {
 public:
  explicit Finder(const GitSearch& search) : search_(search) {}

  Result<std::vector<GitRepository>> Find() {
    if (!search_.project.path.empty()) {
      TRY_ASSIGN(GitRepository own, Inspect(search_.project));
      const bool absent = own.kind == RepositoryKind::kAbsent;
      found_.push_back(std::move(own));
      if (absent) TRY(AddEnclosing());
      TRY(AddSubmodules(search_.project, kMaxSubmoduleDepth));
    }
    for (const GitWorktree& worktree : search_.worktrees) {
      if (IsKnown(found_, worktree.path)) continue;
      TRY_ASSIGN(GitRepository repo, Inspect(worktree));
      found_.push_back(std::move(repo));
      TRY(AddSubmodules(worktree, kMaxSubmoduleDepth));
    }
    return std::move(found_);
  }

 private:
  using Text = std::optional<std::string>;
  using Pin = std::optional<PinnedPath>;

  // What could not be looked at, for whatever reason (no descriptor left, no permission): an error if all of
  // it must be protected, and else as if it were not there.
  template <typename T>
  Result<std::optional<T>> Tolerate(const Error& error) const {
    if (search_.must_be_complete) return error;
    return std::optional<T>();
  }

  // None if nothing is there.
  Result<Pin> LookAt(const std::string& path) const {
    Result<PinnedPath> pin = PinPath(path);
    if (pin.ok()) return Pin(std::move(pin).value());
    if (IsMissing(pin.error())) return Pin();
    return Tolerate<PinnedPath>(pin.error());
  }

  // Through links, as Git reads its files.
  Result<Text> Read(const std::string& path) const {
    TRY_ASSIGN(const Pin pin, LookAt(path));
    if (!pin || pin->type != FileType::kFile) return Text();
    Result<Text> text = ReadSmallFile(pin->path);
    return text.ok() ? std::move(text) : Tolerate<std::string>(text.error());
  }

  // Such a file holds one path and nothing else: newlines belong to it unless they end it.
  Result<std::string> ReadPath(const std::string& path) const {
    TRY_ASSIGN(const Text text, Read(path));
    return text ? text->substr(0, text->find_last_not_of("\r\n") + 1) : std::string();
  }

  // Where a path that was found in a Git file leads: the canonical form, or the text itself if nothing is
  // there yet, as it is that place that has to be protected then. Empty if the text is no path.
  Result<std::string> Place(const std::string& base, const std::string& text) const {
    if (text.empty() || text.find('\0') != std::string::npos) return std::string();
    std::string path = TidyPath(text.starts_with('/') ? text : JoinPath(base, text));
    TRY_ASSIGN(Pin pin, LookAt(path));
    return pin ? std::move(pin->path) : std::move(path);
  }

  // A linked worktree is one that its main repository knows: <common>/worktrees/<name>, with a file that
  // names our .git. What lies in the working tree itself is no witness: whoever can write there wrote it. (A
  // worktree made in the worktrees directory of a bare repository is its own Git directory, and not believed
  // therefore.)
  Result<bool> IsKnownWorktree(const GitRepository& repo) const {
    if (IsWithin(repo.git_dir, repo.worktree) && !IsWithin(repo.common_dir, repo.worktree)) return false;
    if (ParentOf(repo.git_dir) != JoinPath(repo.common_dir, "worktrees")) return false;
    TRY_ASSIGN(const std::string named, ReadPath(JoinPath(repo.git_dir, "gitdir")));
    TRY_ASSIGN(const std::string place, Place(repo.git_dir, named));
    return place == repo.link;
  }

  // A submodule's Git directory names its working tree in core.worktree.
  Result<bool> NamesWorktree(const GitRepository& repo) const {
    TRY_ASSIGN(const Text config, Read(JoinPath(repo.git_dir, "config")));
    if (!config) return false;
    const std::vector<std::string> values = GitConfigValues(*config, "worktree");
    if (values.empty()) return false;
    TRY_ASSIGN(const std::string place, Place(repo.git_dir, values.back()));
    return place == repo.worktree;
  }

  Result<void> Classify(GitRepository& repo) const {
    TRY_ASSIGN(const std::string named, ReadPath(JoinPath(repo.git_dir, "commondir")));
    TRY_ASSIGN(const std::string common, Place(repo.git_dir, named));
    repo.common_dir = common.empty() ? repo.git_dir : common;
    if (repo.common_dir != repo.git_dir) {
      repo.kind = RepositoryKind::kLinkedWorktree;
      TRY_ASSIGN(const bool known, IsKnownWorktree(repo));
      repo.verified = known && LooksLikeGitDir(repo);
    } else if (repo.link_is_directory) {
      repo.kind = RepositoryKind::kMain;
      repo.verified = true;
    } else {
      repo.kind = RepositoryKind::kSubmodule;
      TRY_ASSIGN(const bool named_back, NamesWorktree(repo));
      repo.verified = named_back && LooksLikeGitDir(repo);
    }
    return {};
  }

  // Where a ".git" leads that is there, by a link or by what it says.
  Result<std::string> GitDirOf(const GitRepository& repo, const PinnedPath& pin) const {
    constexpr std::string_view kPointer = "gitdir: ";
    if (pin.type != FileType::kFile) return pin.path;
    const Result<std::string> content = ReadPath(pin.path);
    if (!content.ok()) return content.error();
    if (content.value().compare(0, kPointer.size(), kPointer) != 0) return pin.path;
    return Place(repo.worktree, content.value().substr(kPointer.size()));
  }

  // One look decides what ".git" is: whoever can write to the working tree may exchange it at any moment.
  Result<GitRepository> Inspect(const GitWorktree& worktree) const {
    GitRepository repo;
    repo.worktree = worktree.path;
    repo.link_directories = worktree.link_directories;
    repo.link = JoinPath(worktree.path, ".git");
    TRY_ASSIGN(const Pin pin, LookAt(repo.link));
    if (pin) {
      // The very directory, or another one that has to prove that it belongs here.
      repo.link_is_directory = pin->type == FileType::kDirectory && IsSamePlace(*pin, repo.link);
      TRY_ASSIGN(repo.git_dir, GitDirOf(repo, *pin));
    } else {
      struct stat info {};
      if (lstat(repo.link.c_str(), &info) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) return repo;
        return Error{Stage::kPolicy, errno, repo.link};
      }
      // A link to nothing: what will be at its end is to be protected.
      repo.git_dir = repo.link;
    }
    if (!repo.git_dir.empty()) TRY(Classify(repo));
    if (worktree.distrusts_links && !worktree.link_directories.empty()) repo.verified = false;
    return repo;
  }

  // The list is repository content, so it is believed only as far as it makes things tighter, and not
  // endlessly.
  Result<void> AddSubmodules(const GitWorktree& worktree, int depth) {
    const std::string name = JoinPath(worktree.path, ".gitmodules");
    Result<Text> list = Read(name);
    if (!list.ok()) return Error{Stage::kPolicy, list.error().err == EFBIG ? E2BIG : list.error().err, name};
    if (!list.value()) return {};
    for (const std::string& path : GitConfigValues(*list.value(), "path")) {
      if (path.empty() || path.starts_with('/') || path.find('\0') != std::string::npos) continue;
      TRY_ASSIGN(const Pin pin, LookAt(TidyPath(JoinPath(worktree.path, path))));
      if (!pin || !IsWithin(pin->path, worktree.path) || pin->path == worktree.path ||
          IsKnown(found_, pin->path))
        continue;
      if (depth == 0 || found_.size() >= kMaxRepositories) {
        return search_.must_be_complete ? Result<void>(Error{Stage::kPolicy, E2BIG, name}) : Result<void>();
      }
      const GitWorktree submodule{pin->path, worktree.link_directories, worktree.distrusts_links};
      TRY_ASSIGN(GitRepository repo, Inspect(submodule));
      found_.push_back(std::move(repo));
      TRY(AddSubmodules(submodule, depth - 1));
    }
    return {};
  }

  // The repository around a project that is only a part of it. Like Git we do not trust a ".git" of somebody
  // else.
  Result<void> AddEnclosing() {
    for (std::string place = ParentOf(search_.project.path); place != "/" && place != search_.home;
         place = ParentOf(place)) {
      struct stat info {};
      const std::string link = JoinPath(place, ".git");
      if (lstat(link.c_str(), &info) != 0) {
        if (errno == ENOENT || errno == ENOTDIR || !search_.must_be_complete) continue;
        return Error{Stage::kPolicy, errno, link};
      }
      TRY_ASSIGN(GitRepository repo, Inspect({place, search_.project.link_directories}));
      if (info.st_uid != geteuid()) repo.verified = false;
      found_.push_back(std::move(repo));
      break;
    }
    return {};
  }

  const GitSearch& search_;
  std::vector<GitRepository> found_;
};

}  // namespace

std::span<const std::string_view> GitCommandSources() { return kCommandSources; }

bool IsGitCommandSource(std::string_view name) {
  return std::find(std::begin(kCommandSources), std::end(kCommandSources), name) != std::end(kCommandSources);
}

Result<std::vector<GitRepository>> FindRepositories(const GitSearch& search) { return Finder(search).Find(); }

}  // namespace spty
