// The holes: credentials and Git metadata.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "policy/git_repository.h"
#include "policy/mount_aliases.h"
#include "policy/path_text.h"
#include "policy/planted_links.h"
#include "policy/policy_builder.h"
#include "settings/defaults.h"
#include "settings/text.h"

namespace spty {
namespace {

Failure AddHole(PolicyBuilder& builder, const std::string& spelled, bool denies_read, HoleKind kind,
                const Origin& origin) {
  Result<PathLookup> found = builder.resolver.LookUp(spelled);
  if (!found.ok()) {
    return PolicyError(origin,
                       Quoted(spelled) + " must be protected, but where it leads cannot be told: " +
                           std::strerror(found.error().err) + ".",
                       "Make it accessible, or take it off the list.", spelled, found.error().err);
  }
  Hole hole;
  hole.path = std::move(found.value().path);
  hole.pin = std::move(found.value().pin);
  hole.spelled = spelled;
  hole.denies_read = denies_read;
  hole.kind = kind;
  hole.origin = origin;
  builder.rules.AddHole(std::move(hole));
  return std::nullopt;
}

// A place by its own name, even if a link is there: replacing the link must be prevented too.
void AddHoleAtName(PolicyBuilder& builder, const std::string& name, bool denies_read, const Origin& origin) {
  Hole hole;
  hole.path = hole.spelled = name;
  hole.denies_read = denies_read;
  hole.kind = HoleKind::kGit;
  hole.origin = origin;
  builder.rules.AddHole(std::move(hole));
}

void GrantGitDir(PolicyBuilder& builder, const GitRepository& repo, const std::string& path, Rights rights) {
  const Origin& origin = builder.settings.git_access.origin;
  Result<PinnedPath> pin = PinPath(path);
  if (!pin.ok()) {
    builder.parts.skipped.push_back(
        {path, path, IsMissing(pin.error()) ? SkipReason::kMissing : SkipReason::kNotVerified,
         Quoted(path) + " cannot be opened: " + std::strerror(pin.error().err) + ".", origin});
    return;
  }
  // A link that was not there when the path was found and verified leads somewhere else.
  if (!IsSamePlace(pin.value(), path)) {
    builder.parts.skipped.push_back({path, pin.value().path, SkipReason::kNotVerified,
                                     Quoted(path) + " was exchanged meanwhile.", origin});
    return;
  }
  if (!repo.verified) {
    builder.parts.skipped.push_back(
        {path, path, SkipReason::kNotVerified,
         repo.link_directories.empty()
             ? Quoted(repo.link) + " claims this Git directory, which does not point back to it."
             : Quoted(repo.link) +
                   " is reached through a symbolic link, or does not belong to this Git directory.",
         origin});
    return;
  }
  GrantRequest request;
  request.grant.pin = std::move(pin).value();
  request.grant.rights = rights;
  request.grant.kind = GrantKind::kGit;
  request.grant.origin = origin;
  request.link_directories = repo.link_directories;
  request.spelled = request.text = path;
  builder.rules.AddGrant(std::move(request));
}

Failure ProtectRepository(PolicyBuilder& builder, const GitRepository& repo) {
  const Sourced<GitAccess>& access = builder.settings.git_access;
  const bool deny_read = access.value == GitAccess::kNone;
  // Also where there is none yet: a repository planted there would run its hooks for whoever comes next.
  if (!repo.link_is_directory || access.value != GitAccess::kCommit) {
    AddHoleAtName(builder, repo.link, deny_read, access.origin);
  }
  for (const std::string& directory : {repo.git_dir, repo.common_dir}) {
    if (directory.empty()) continue;
    if (access.value != GitAccess::kCommit) {
      if (Failure failure = AddHole(builder, directory, deny_read, HoleKind::kGit, access.origin))
        return failure;
      continue;
    }
    for (std::string_view name : GitCommandSources()) {
      const std::string place = JoinPath(directory, name);
      AddHoleAtName(builder, place, false, access.origin);
      if (Failure failure = AddHole(builder, place, false, HoleKind::kGit, access.origin)) return failure;
    }
  }
  return std::nullopt;
}

Failure AddRepository(PolicyBuilder& builder, const GitRepository& repo) {
  const GitAccess access = builder.settings.git_access.value;
  if (access != GitAccess::kNone && !repo.git_dir.empty()) {
    const Rights rights = access == GitAccess::kRead ? Rights::kRead : Rights::kReadWrite;
    GrantGitDir(builder, repo, repo.git_dir, rights);
    if (repo.common_dir != repo.git_dir) GrantGitDir(builder, repo, repo.common_dir, rights);
  }
  return access == GitAccess::kFull ? std::nullopt : ProtectRepository(builder, repo);
}

// The further working trees, also those that do not exist: a repository planted there is one, too.
SettingsResult<std::vector<GitWorktree>> FurtherWorktrees(PolicyBuilder& builder) {
  std::vector<GitWorktree> places;
  const std::vector<std::string>& given = builder.input.repositories;
  for (size_t i = 0; i < given.size(); ++i) {
    const Origin at{Layer::kCaller, AppendPointer("/repositories", i)};
    if (!given[i].starts_with('/') || given[i].find('\0') != std::string::npos)
      return PolicyError(at, Quoted(given[i]) + " is no absolute path.", "Pass an absolute path.", given[i]);
    const Result<PathLookup> found = builder.resolver.LookUp(TidyPath(given[i]));
    if (!found.ok()) {
      return PolicyError(at,
                         "The Git metadata of " + Quoted(given[i]) + " must be protected, but where it is" +
                             " cannot be told: " + std::strerror(found.error().err) + ".",
                         "Make it accessible.", given[i], found.error().err);
    }
    places.push_back({found.value().path, LinkDirectoriesOfTheUser(builder.resolver, found.value()), true});
  }
  return places;
}

SettingsError GitError(const Origin& at, const Error& error) {
  if (error.err == E2BIG) {
    return PolicyError(
        at,
        Quoted(error.subject) +
            " lists more submodules than can be protected: " + std::to_string(kMaxRepositories) +
            " repositories, " + std::to_string(kMaxSubmoduleDepth) + " levels, 64 KiB.",
        "Open a part of the project, or set git_access to \"full\".", error.subject, error.err);
  }
  return PolicyError(
      at,
      "The Git metadata " + Quoted(error.subject) + " cannot be resolved: " + std::strerror(error.err) + ".",
      "Make it accessible.", error.subject, error.err);
}

// Writing there changes the system and other processes, not files; devices and terminals are those of
// everybody. A grant of the directory around such a mount (a root file system that is being built, say) does
// not mean that.
void AddKernelMounts(PolicyBuilder& builder, const std::vector<MountPoint>& mounts) {
  constexpr std::string_view kReadable[] = {"proc",    "sysfs",    "cgroup",     "cgroup2",
                                            "debugfs", "tracefs",  "securityfs", "configfs",
                                            "bpf",     "efivarfs", "pstore",     "binfmt_misc"};
  constexpr std::string_view kClosed[] = {"devtmpfs", "devpts"};
  // See RootOnlySecrets.
  constexpr std::string_view kOfRoot[] = {"debugfs", "tracefs", "pstore"};
  const auto is_in = [](const auto& list, const std::string& type) {
    return std::find(std::begin(list), std::end(list), type) != std::end(list);
  };
  for (const MountPoint& mount : mounts) {
    const bool closed = is_in(kClosed, mount.type) || (builder.input.is_root && is_in(kOfRoot, mount.type));
    if (!closed && !is_in(kReadable, mount.type)) continue;
    // Those that every system has are seen to by name.
    if (IsWithin(mount.place, "/proc") || IsWithin(mount.place, "/sys") || IsWithin(mount.place, "/dev"))
      continue;
    Hole hole;
    hole.path = hole.spelled = mount.place;
    hole.denies_read = closed;
    hole.kind = HoleKind::kDevice;
    hole.origin = {Layer::kDefault, "/system_paths/read_write"};
    builder.rules.AddHole(std::move(hole));
  }
}

// A name may be hidden by a mount: then something else is there, which is nobody's secret.
std::optional<PinnedPath> PinOfTheSame(const Hole& hole, const std::string& alias) {
  Result<PinnedPath> pin = PinPath(alias);
  if (!pin.ok() || !hole.pin || pin.value().device != hole.pin->device ||
      pin.value().inode != hole.pin->inode)
    return std::nullopt;
  return std::move(pin).value();
}

// What else is mounted in the way of grants: kernel interfaces, and the same files a second time.
Failure AddHolesOfMounts(PolicyBuilder& builder) {
  const Result<std::vector<MountPoint>> mounts = ReadMounts();
  if (!mounts.ok()) {
    return PolicyError({Layer::kDefault, "/denied_read_paths"},
                       "Whether credentials can be read in a second place cannot be told: " +
                           Quoted(mounts.error().subject) + ": " + std::strerror(mounts.error().err) + ".",
                       "Make it accessible.", mounts.error().subject, mounts.error().err);
  }
  AddKernelMounts(builder, mounts.value());
  const MountTable table(mounts.value());
  std::vector<Hole> aliases;
  for (const Hole& hole : builder.rules.holes()) {
    if (hole.kind != HoleKind::kCredential) continue;
    for (std::string& place : table.AliasesOf(hole.path)) {
      Hole alias;
      alias.path = alias.spelled = std::move(place);
      alias.origin = hole.origin;
      alias.pin = PinOfTheSame(hole, alias.path);
      aliases.push_back(std::move(alias));
    }
  }
  for (Hole& alias : aliases) builder.rules.AddHole(std::move(alias));
  builder.mounts_share = table.shares();
  return std::nullopt;
}

}  // namespace

Failure AddCredentialHoles(PolicyBuilder& builder) {
  for (const Sourced<std::string>& text : builder.settings.denied_read.items) {
    const Expansion expansion = builder.resolver.Expand(text.value);
    if (expansion.outcome != Expansion::Outcome::kPath) {
      // What cannot be found cannot be protected, and nobody would notice.
      return PolicyError(text.origin, Quoted(text.value) + " cannot be resolved, so it cannot be denied.",
                         "Write the path without variables, or set them.");
    }
    if (Failure failure = AddHole(builder, expansion.text, true, HoleKind::kCredential, text.origin))
      return failure;
  }
  if (builder.input.is_root) {
    for (std::string_view path : RootOnlySecrets(builder.settings.platform)) {
      const Origin origin{Layer::kDefault, "/denied_read_paths"};
      if (Failure failure = AddHole(builder, std::string(path), true, HoleKind::kCredential, origin))
        return failure;
    }
  }
  return AddHolesOfMounts(builder);
}

Failure AddGit(PolicyBuilder& builder) {
  const Sourced<GitAccess>& access = builder.settings.git_access;
  GitSearch search{{builder.parts.project, builder.project_links},
                   builder.canonical_home,
                   {},
                   access.value != GitAccess::kFull};
  SettingsResult<std::vector<GitWorktree>> worktrees = FurtherWorktrees(builder);
  if (!worktrees.ok()) return worktrees.error();
  search.worktrees = std::move(worktrees).value();
  Result<std::vector<GitRepository>> found = FindRepositories(search);
  if (!found.ok()) return GitError(access.origin, found.error());
  builder.parts.repositories = std::move(found).value();
  for (const GitRepository& repo : builder.parts.repositories) {
    if (Failure failure = AddRepository(builder, repo)) return failure;
  }
  return std::nullopt;
}

}  // namespace spty
