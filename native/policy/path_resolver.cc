#include "policy/path_resolver.h"

#include <limits.h>
#include <unistd.h>

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

std::optional<std::string> ReadLink(const std::string& path) {
  char buffer[PATH_MAX];
  const ssize_t length = readlink(path.c_str(), buffer, sizeof buffer);
  if (length < 0 || length == sizeof buffer) return std::nullopt;
  return std::string(buffer, static_cast<size_t>(length));
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
  if (path.starts_with('/')) return {Outcome::kPath, TidyPath(path)};
  if (project_.empty()) return {Outcome::kNoProject, path};
  return {Outcome::kPath, TidyPath(JoinPath(project_, path))};
}

Result<PathLookup> PathResolver::LookUp(const std::string& absolute_path) {
  const std::string parent = ParentOf(absolute_path);
  const auto known = is_there_.find(parent);
  if (known != is_there_.end() && !known->second && IsPlainPath(absolute_path)) {
    return PathLookup{std::nullopt, absolute_path};
  }
  Result<PinnedPath> pin = PinExactly(absolute_path);
  if (!pin.ok() && IsMissing(pin.error())) {
    if (known == is_there_.end()) RememberWhetherThere(parent);
    return PathLookup{std::nullopt, absolute_path};
  }
  if (!pin.ok()) pin = PinThroughLinks(absolute_path);
  if (pin.ok()) {
    PathLookup found;
    found.path = pin.value().path;
    found.pin = std::move(pin).value();
    return found;
  }
  if (!IsMissing(pin.error())) return pin.error();
  TRY_ASSIGN(std::string place, PlaceOfMissing(absolute_path, kMaxLinks));
  return PathLookup{std::nullopt, std::move(place)};
}

void PathResolver::RememberWhetherThere(const std::string& directory) {
  const Result<PinnedPath> pin = PinExactly(directory);
  if (pin.ok() || IsMissing(pin.error())) is_there_.emplace(directory, pin.ok());
}

Result<std::string> PathResolver::PlaceOfDirectory(const std::string& path, int links_left) {
  if (const auto known = directories_.find(path); known != directories_.end()) return known->second;
  Result<PinnedPath> pin = PinPath(path);
  if (!pin.ok() && !IsMissing(pin.error())) return pin.error();
  std::string place;
  if (pin.ok()) {
    place = pin.value().path;
  } else {
    TRY_ASSIGN(place, PlaceOfMissing(path, links_left));
  }
  directories_.emplace(path, place);
  return place;
}

Result<std::string> PathResolver::PlaceOfMissing(const std::string& path, int links_left) {
  if (links_left == 0) return Error{Stage::kPolicy, ELOOP, path};
  if (path == "/") return path;
  TRY_ASSIGN(const std::string parent, PlaceOfDirectory(ParentOf(path), links_left));
  const std::string name = NameIn(path);
  if (name == "..") return ParentOf(parent);
  const std::string place = JoinPath(parent, name);
  // A link whose target is not there (yet): the target is what matters.
  const std::optional<std::string> target = ReadLink(place);
  if (!target) return place;
  const std::string next = target->starts_with('/') ? *target : JoinPath(parent, *target);
  return PlaceOfMissing(TidyPath(next), links_left - 1);
}

}  // namespace spty
