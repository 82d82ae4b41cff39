#include "policy/path_resolver.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "policy/path_text.h"
#include "settings/text.h"

namespace spty {
namespace {

constexpr int kMaxLinks = 40;  // as many as the kernel follows

bool IsNameStart(char c) { return c == '_' || (IsAsciiAlnum(c) && !IsAsciiDigit(c)); }

size_t NameLength(std::string_view text) {
  if (text.empty() || !IsNameStart(text[0])) return 0;
  size_t length = 1;
  while (length < text.size() && (IsAsciiAlnum(text[length]) || text[length] == '_')) ++length;
  return length;
}

// None if there is no link, or nothing at all.
Result<std::optional<std::string>> ReadLink(const std::string& path) {
  char buffer[PATH_MAX];
  const ssize_t length = readlink(path.c_str(), buffer, sizeof buffer);
  if (length < 0 && (errno == EINVAL || errno == ENOENT || errno == ENOTDIR)) {
    return std::optional<std::string>();
  }
  if (length < 0) return Error{Stage::kPolicy, errno, path};
  if (length == sizeof buffer) return Error{Stage::kPolicy, ENAMETOOLONG, path};
  return std::optional<std::string>(std::string(buffer, static_cast<size_t>(length)));
}

}  // namespace

PathResolver::PathResolver(std::string home, std::string project, const std::vector<EnvVar>& env)
    : home_(std::move(home)), project_(std::move(project)), env_(&env) {}

std::optional<std::string> PathResolver::Variable(std::string_view name) const {
  // One home for "~" and "$HOME", whatever the environment says.
  if (name == "HOME") return home_;
  for (const EnvVar& var : *env_) {
    if (var.name == name && !var.value.empty()) return var.value;
  }
  return std::nullopt;
}

Expansion PathResolver::Expand(std::string_view text) const {
  using Outcome = Expansion::Outcome;
  std::string path;
  path.reserve(home_.size() + text.size());
  if (text == "~" || text.starts_with("~/")) {
    path = home_;
    text.remove_prefix(1);
  }
  while (!text.empty()) {
    const size_t dollar = std::min(text.find('$'), text.size());
    path += text.substr(0, dollar);
    text.remove_prefix(dollar);
    if (text.empty()) break;
    text.remove_prefix(1);
    if (text.starts_with('$')) {
      path += '$';
      text.remove_prefix(1);
      continue;
    }
    const bool braces = text.starts_with('{');
    if (braces) text.remove_prefix(1);
    const std::string_view name = text.substr(0, NameLength(text));
    text.remove_prefix(name.size());
    if (braces && (name.empty() || !text.starts_with('}'))) {
      return {Outcome::kBadSyntax,
              "After ${ comes the name of a variable and a closing brace, nothing else."};
    }
    if (braces) text.remove_prefix(1);
    if (name.empty()) {
      path += '$';
      continue;
    }
    const std::optional<std::string> value = Variable(name);
    if (!value) return {Outcome::kUnsetVariable, std::string(name)};
    path += *value;
  }
  if (path.starts_with('/')) return {Outcome::kPath, Tidied(std::move(path))};
  if (project_.empty()) return {Outcome::kNoProject, path};
  return {Outcome::kPath, Tidied(JoinPath(project_, path))};
}

bool PathResolver::IsKnownToBeMissing(const std::string& plain_path) const {
  for (std::string_view place = plain_path; place.size() > 1;) {
    place = place.substr(0, std::max<size_t>(place.rfind('/'), 1));
    if (const auto known = is_there_.find(place); known != is_there_.end()) return !known->second;
  }
  return false;
}

bool PathResolver::IsBeyondTheUser(const std::string& directory) {
  const auto known = is_beyond_user_.find(directory);
  if (known != is_beyond_user_.end()) return known->second;
  return is_beyond_user_.emplace(directory, spty::IsBeyondTheUser(directory)).first->second;
}

Result<PathLookup> PathResolver::LookUp(const std::string& absolute_path) {
  if (IsPlainPath(absolute_path) && IsKnownToBeMissing(absolute_path))
    return PathLookup{std::nullopt, absolute_path, {}};
  Result<PinnedPath> pin = PinExactly(absolute_path);
  if (!pin.ok() && IsMissing(pin.error())) {
    is_there_.emplace(absolute_path, false);
    RememberWhetherThere(ParentOf(absolute_path));
    return PathLookup{std::nullopt, absolute_path, {}};
  }
  const bool exact = pin.ok();
  if (exact) is_there_.emplace(absolute_path, true);
  if (!exact) pin = PinThroughLinks(absolute_path);
  if (!pin.ok() && !IsMissing(pin.error())) return pin.error();
  PathLookup found;
  if (pin.ok()) {
    found.path = pin.value().path;
    found.pin = std::move(pin).value();
    // The kernel went where the text says, so no link was on the way.
    if (found.path == absolute_path) return found;
  }
  TRY_ASSIGN(Trace trace, Follow(absolute_path, kMaxLinks));
  // Somebody exchanges things while we look: then it is not known which links led there.
  if (found.pin && !IsSamePlace(*found.pin, trace.place)) {
    return Error{Stage::kPolicy, ESTALE, absolute_path};
  }
  if (!found.pin) found.path = std::move(trace.place);
  found.link_directories = std::move(trace.link_directories);
  return found;
}

void PathResolver::RememberWhetherThere(const std::string& directory) {
  if (is_there_.contains(directory)) return;
  const Result<PinnedPath> pin = PinExactly(directory);
  if (pin.ok() || IsMissing(pin.error())) is_there_.emplace(directory, pin.ok());
}

Result<PathResolver::Trace> PathResolver::FollowDirectory(const std::string& path, int links_left) {
  if (const auto known = directories_.find(path); known != directories_.end()) return known->second;
  TRY_ASSIGN(Trace trace, Follow(path, links_left));
  trace.place = RealName(trace.place);
  directories_.emplace(path, trace);
  return trace;
}

// A walk by name can be raced, but not to any use: it tells nothing but which links explain the place that
// the kernel found, and where only a link leads the walk does not get without noting it.
Result<PathResolver::Trace> PathResolver::Follow(const std::string& path, int links_left) {
  if (links_left == 0) return Error{Stage::kPolicy, ELOOP, path};
  if (path == "/") return Trace{path, {}};
  // The kernel has gone there, and met no link.
  if (const auto known = is_there_.find(path); known != is_there_.end() && known->second)
    return Trace{path, {}};
  TRY_ASSIGN(Trace trace, FollowDirectory(ParentOf(path), links_left));
  const std::string name = NameIn(path);
  if (name == "..") {
    trace.place = ParentOf(trace.place);
    return trace;
  }
  const std::string place = JoinPath(trace.place, name);
  // Also a link whose target is not there (yet): the target is what matters.
  TRY_ASSIGN(const std::optional<std::string> target, ReadLink(place));
  if (!target) {
    trace.place = place;
    return trace;
  }
  trace.link_directories.push_back(trace.place);
  const std::string next = target->starts_with('/') ? *target : JoinPath(trace.place, *target);
  TRY_ASSIGN(const Trace rest, Follow(TidyPath(next), links_left - 1));
  trace.place = rest.place;
  trace.link_directories.insert(trace.link_directories.end(), rest.link_directories.begin(),
                                rest.link_directories.end());
  return trace;
}

}  // namespace spty
