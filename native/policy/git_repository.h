// Finds the Git metadata of a project by reading the files that Git itself would read.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/policy.h"

namespace spty {

struct GitWorktree {
  std::string path;  // canonical
  // See GitRepository.
  std::vector<std::string> link_directories;
  // Whether such links make it one to be protected only, never one to be granted.
  bool distrusts_links = false;
};

struct GitSearch {
  GitWorktree project;  // may be empty
  std::string home;     // canonical; its own repository (dotfiles) does not count as the project's
  // Further working trees that the caller knows of, canonical.
  std::vector<GitWorktree> worktrees;
  // Whether it is an error if something cannot be looked at: a file that cannot be read, or (E2BIG, with the
  // list of submodules) more repositories than anybody would have. If not, it counts as absent.
  bool must_be_complete = false;
};

// As many repositories, and submodules in submodules, are looked at.
inline constexpr size_t kMaxRepositories = 200;
inline constexpr int kMaxSubmoduleDepth = 4;

// The project's own repository (or the place where one would be), the one it lies in, its submodules as
// listed in .gitmodules, and the further ones. The first one is the project's. An error means that a ".git"
// is there whose place could not be told.
Result<std::vector<GitRepository>> FindRepositories(const GitSearch& search);

// What Git, or somebody's tool around it, takes commands from: in the Git directory of a working tree and in
// the one that several share. Everything else there is data.
std::span<const std::string_view> GitCommandSources();
bool IsGitCommandSource(std::string_view name);

}  // namespace spty
