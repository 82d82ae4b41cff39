// From the text of a setting to a place on the disk.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/environment.h"
#include "policy/path_index.h"
#include "policy/path_pin.h"

namespace spty {

// The text with "~", "$VAR", "${VAR}" and "$$" (one dollar sign) replaced and made absolute.
struct Expansion {
  enum class Outcome : uint8_t { kPath, kUnsetVariable, kNoProject, kBadSyntax };
  Outcome outcome = Outcome::kPath;
  // The path, tidied; or the name of the variable; or what is wrong.
  std::string text;
};

// A place: pinned if something is there, else where it would be.
struct PathLookup {
  std::optional<PinnedPath> pin;
  std::string path;
  // The directories, by their own names, in which symbolic links were followed on the way.
  std::vector<std::string> link_directories;
};

class PathResolver {
 public:
  // `project` may be empty; relative paths are then an error. `env` must outlive the resolver.
  PathResolver(std::string home, std::string project, const std::vector<EnvVar>& env);

  Expansion Expand(std::string_view setting_text) const;
  // Follows symbolic links, also dangling ones, and resolves a missing path through its nearest existing
  // ancestor. An error means that something is there whose real place could not be told.
  Result<PathLookup> LookUp(const std::string& absolute_path);
  // As the function says; asked once for each directory.
  bool IsBeyondTheUser(const std::string& directory);

  const std::string& home() const { return home_; }
  const std::string& project() const { return project_; }

 private:
  std::optional<std::string> Variable(std::string_view name) const;
  // Where a path leads by name, and through which links.
  struct Trace {
    std::string place;
    std::vector<std::string> link_directories;
  };
  // Whether the nearest directory above it of which anything is known is not there.
  bool IsKnownToBeMissing(const std::string& plain_path) const;
  void RememberWhetherThere(const std::string& directory);
  Result<Trace> Follow(const std::string& path, int links_left);
  Result<Trace> FollowDirectory(const std::string& path, int links_left);

  std::string home_;
  std::string project_;
  const std::vector<EnvVar>* env_;
  // Which places, reached without a link, are there. Most missing paths share a few directories: below one
  // that is not there is nothing to look for. And most links lead to a place that has been looked up for its
  // own sake.
  PathMap<bool> is_there_;
  // And most links are in one directory: "/", with /bin and /lib.
  PathMap<bool> is_beyond_user_;
  // Where the others lead.
  PathMap<Trace> directories_;
};

}  // namespace spty
