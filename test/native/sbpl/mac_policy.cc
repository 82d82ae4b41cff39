#include "sbpl/mac_policy.h"

#include <gtest/gtest.h>

#include "policy/git_repository.h"
#include "policy/path_text.h"
#include "settings/defaults.h"
#include "settings/layers.h"

namespace spty::sbpl {
namespace {

constexpr char kHome[] = "/Users/me";
constexpr char kProject[] = "/Users/me/project";
constexpr char kTemp[] = "/var/folders/zz/me/T";

std::string Canonical(const std::string& path) {
  for (const char* linked : {"/etc", "/tmp", "/var"}) {
    if (IsWithin(path, linked)) return "/private" + path;
  }
  return path;
}

std::string Expand(std::string text) {
  if (text == "/var/folders") return Canonical(kTemp);
  if (text == "$SSH_AUTH_SOCK") return "/private/tmp/com.apple.launchd.x/Listeners";
  if (text.starts_with("~")) text = kHome + text.substr(1);
  if (text.starts_with("$HOME")) text = kHome + text.substr(5);
  return Canonical(TidyPath(text.starts_with('/') ? text : JoinPath(kProject, text)));
}

bool IsFile(const std::string& path) {
  const std::string name = NameIn(path);
  return path.starts_with("/dev/") || (name.starts_with('.') && name.find("rc") != std::string::npos);
}

void Request(RuleSet& rules, const Sourced<std::string>& text, Rights rights, GrantKind kind) {
  GrantRequest request;
  const std::string path = Expand(text.value);
  request.grant = MacGrant(path, rights, kind, IsFile(path) ? FileType::kFile : FileType::kDirectory);
  request.grant.origin = text.origin;
  request.spelled = path;
  request.text = text.value;
  request.is_explicit = text.origin.layer != Layer::kDefault;
  rules.AddGrant(std::move(request));
}

void RequestAll(RuleSet& rules, const PathList& list, Rights rights, GrantKind kind) {
  for (const Sourced<std::string>& text : list.items) Request(rules, text, rights, kind);
}

void AddDevices(RuleSet& rules, const Settings& settings) {
  const Origin origin{Layer::kDefault, ""};
  for (const std::string_view device : DeviceSet(Platform::kMacos)) {
    if (device != "/dev/fd")
      Request(rules, {std::string(device), origin}, Rights::kReadWrite, GrantKind::kDevice);
  }
  rules.AddHole(MacHole("/dev", true, true, HoleKind::kDevice));
  if (settings.nested_pty.value == NestedPty::kShared)
    Request(rules, {"/dev/ptmx", origin}, Rights::kReadWrite, GrantKind::kDevice);
}

void AddGit(RuleSet& rules, const Settings& settings) {
  const GitAccess access = settings.git_access.value;
  if (access == GitAccess::kFull) return;
  const std::string git = std::string(kProject) + "/.git";
  if (access != GitAccess::kCommit) {
    rules.AddHole(MacHole(git, access == GitAccess::kNone, false, HoleKind::kGit));
    return;
  }
  for (const std::string_view name : GitCommandSources()) {
    rules.AddHole(MacHole(JoinPath(git, name), false, false, HoleKind::kGit));
  }
}

}  // namespace

Grant MacGrant(const std::string& path, Rights rights, GrantKind kind, FileType type) {
  Grant grant;
  grant.pin.path = path;
  grant.pin.type = type;
  grant.rights = rights;
  grant.kind = kind;
  return grant;
}

Hole MacHole(const std::string& path, bool denies_read, bool exists, HoleKind kind) {
  Hole hole;
  hole.path = hole.spelled = path;
  hole.denies_read = denies_read;
  hole.kind = kind;
  if (exists) {
    hole.pin.emplace();
    hole.pin->path = path;
  }
  return hole;
}

std::shared_ptr<const Policy> MacPolicy(std::string_view text) {
  LayersInput layers;
  layers.user = LayerText{std::string(text), "", DocumentShape::kAuto};
  layers.platform = Platform::kMacos;
  auto resolved = ResolveSettings(layers);
  EXPECT_TRUE(resolved.ok()) << (resolved.ok() ? "" : Describe(resolved.error()));
  if (!resolved.ok()) return nullptr;
  PolicyParts parts;
  auto settings = std::make_shared<Settings>(resolved.value().settings);
  RuleSet rules;
  const Origin caller{Layer::kCaller, "/projectDir"};
  const bool writes = settings->project_access.value == ProjectAccess::kReadWrite;
  Request(rules, {kProject, caller}, writes ? Rights::kReadWrite : Rights::kReadExecute, GrantKind::kProject);
  if (settings->read_access.value == ReadAccess::kAll)
    Request(rules, {"/", settings->read_access.origin}, Rights::kReadExecute, GrantKind::kEverything);
  RequestAll(rules, settings->executable, Rights::kReadExecute, GrantKind::kSystem);
  RequestAll(rules, settings->read_only, Rights::kRead, GrantKind::kSystem);
  for (const Sourced<std::string>& path : settings->read_write.items) {
    if (path.value != "/dev") Request(rules, path, Rights::kReadWrite, GrantKind::kSystem);
  }
  AddDevices(rules, *settings);
  for (const std::string_view name : HomeDotfiles())
    Request(rules, {"~/" + std::string(name), {Layer::kDefault, ""}}, Rights::kRead, GrantKind::kDotfile);
  RequestAll(rules, settings->additional_executable, Rights::kReadExecute, GrantKind::kAdditional);
  RequestAll(rules, settings->additional_read_only, Rights::kRead, GrantKind::kAdditional);
  RequestAll(rules, settings->additional_read_write, Rights::kReadWrite, GrantKind::kAdditional);
  if (settings->temp.value == TempMode::kPrivate)
    Request(rules, {"/private/tmp/spty-own", caller}, Rights::kReadWrite, GrantKind::kTemp);
  for (const Sourced<std::string>& path : settings->denied_read.items) {
    Hole hole = MacHole(Expand(path.value), true, false);
    hole.origin = path.origin;
    rules.AddHole(std::move(hole));
  }
  AddGit(rules, *settings);
  rules.Settle(parts.grants, parts.holes, parts.skipped);
  for (const Sourced<std::string>& path : settings->unix_sockets.items)
    parts.unix_sockets.push_back({Expand(path.value), true, path.origin});
  if (settings->network_all.value) {
    parts.network.mode = NetworkMode::kAll;
  } else if (!settings->network_hosts.items.empty()) {
    parts.network.mode = NetworkMode::kFiltered;
  }
  parts.confined = true;
  parts.home = kHome;
  parts.project = kProject;
  parts.settings = std::move(settings);
  return std::make_shared<const Policy>(std::move(parts));
}

}  // namespace spty::sbpl
