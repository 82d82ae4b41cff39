// The grants: project, system paths, what the user added, temporary files.
#include <cerrno>
#include <cstring>

#include "policy/path_text.h"
#include "policy/planted_links.h"
#include "policy/policy_builder.h"
#include "settings/defaults.h"
#include "settings/text.h"

namespace spty {
namespace {

constexpr char kDeviceDirectory[] = "/dev";
constexpr char kUserTemps[] = "/var/folders";  // macOS: of all users

Rights ProjectRights(const Settings& settings) {
  return settings.project_access.value == ProjectAccess::kReadWrite ? Rights::kReadWrite
                                                                    : Rights::kReadExecute;
}

Failure AddDevices(PolicyBuilder& builder, const Origin& origin) {
  for (std::string_view device : DeviceSet(builder.settings.platform)) {
    // Per process: a rule for our own would be about the wrong one. Opening through it needs no right of its
    // own.
    if (device == "/dev/fd") continue;
    if (Failure failure =
            builder.GrantOne({std::string(device), origin}, Rights::kReadWrite, GrantKind::kDevice)) {
      return failure;
    }
  }
  return std::nullopt;
}

// "/var/folders" in the default list means the user's own temporary directory: the caches and sockets of
// every program of the user lie beside it.
Failure AddUserTemp(PolicyBuilder& builder, const Sourced<std::string>& folders) {
  const Result<PathLookup> all = builder.resolver.LookUp(kUserTemps);
  const Expansion own = builder.resolver.Expand("$TMPDIR");
  if (all.ok() && own.outcome == Expansion::Outcome::kPath) {
    const Result<PathLookup> place = builder.resolver.LookUp(own.text);
    if (place.ok() && place.value().path != all.value().path &&
        IsWithin(place.value().path, all.value().path))
      return builder.GrantOne({own.text, folders.origin}, Rights::kReadWrite, GrantKind::kSystem);
  }
  builder.Skip(folders, kUserTemps, SkipReason::kMissing, "TMPDIR names no directory in it.");
  return std::nullopt;
}

// "/dev" in a list of system paths means the device set in every layer: a list copied from the documentation
// must not mean more than the default that it was copied from.
Failure AddReadWrite(PolicyBuilder& builder) {
  for (const Sourced<std::string>& text : builder.settings.read_write.items) {
    const bool devices = TidyPath(text.value) == kDeviceDirectory;
    const bool temps = text.origin.layer == Layer::kDefault && text.value == kUserTemps;
    Failure failure = devices ? AddDevices(builder, text.origin)
                      : temps ? AddUserTemp(builder, text)
                              : builder.GrantOne(text, Rights::kReadWrite, GrantKind::kSystem);
    if (failure) return failure;
  }
  if (builder.settings.nested_pty.value != NestedPty::kShared) return std::nullopt;
  for (std::string_view device : SharedPtyDevices(builder.settings.platform)) {
    const Sourced<std::string> text{std::string(device), builder.settings.nested_pty.origin};
    if (Failure failure = builder.GrantOne(text, Rights::kReadWrite, GrantKind::kDevice)) return failure;
  }
  return std::nullopt;
}

Failure AddDotfiles(PolicyBuilder& builder) {
  for (std::string_view name : HomeDotfiles()) {
    const Sourced<std::string> text{"~/" + std::string(name), {Layer::kDefault, "/read_access"}};
    if (Failure failure = builder.GrantOne(text, Rights::kRead, GrantKind::kDotfile)) return failure;
  }
  return std::nullopt;
}

// What every program expects of the system, whichever lists are in force.
Failure AddBuiltin(PolicyBuilder& builder) {
  const bool linux_host = builder.settings.platform == Platform::kLinux;
  std::vector<std::string> paths;
  if (linux_host) {
    paths = {"/proc", "/sys"};
    // Usually a link to somewhere in /run, which no list grants.
    if (builder.settings.network_all.value) paths.emplace_back("/etc/resolv.conf");
  } else {
    // Frameworks, and the libraries that all programs share: files of the system that are the same
    // everywhere.
    paths = {"/System/Library", "/System/Volumes/Preboot/Cryptexes", "/private/var/db/timezone",
             "/private/var/db/dyld", "/private/var/select"};
  }
  const Rights rights = linux_host ? Rights::kRead : Rights::kReadExecute;
  for (std::string& path : paths) {
    const Sourced<std::string> text{std::move(path), {Layer::kDefault, "/system_paths/read_only"}};
    if (Failure failure = builder.GrantOne(text, rights, GrantKind::kBuiltin)) return failure;
  }
  return std::nullopt;
}

// The rest of /dev under a grant of everything: other terminals, disks, cameras. Always there, so that
// whoever gives up "read_access": "all" does not get more through another wide grant.
void AddDeviceHole(PolicyBuilder& builder) {
  Result<PathLookup> found = builder.resolver.LookUp(kDeviceDirectory);
  Hole hole;
  hole.path = hole.spelled = kDeviceDirectory;
  if (found.ok()) hole.pin = std::move(found.value().pin);
  hole.kind = HoleKind::kDevice;
  hole.origin = {Layer::kDefault, "/system_paths/read_write"};
  builder.rules.AddHole(std::move(hole));
}

Failure AddEverything(PolicyBuilder& builder) {
  const Settings& settings = builder.settings;
  const bool write = settings.allow_fs_write_all.value;
  if (!write && settings.read_access.value != ReadAccess::kAll) return std::nullopt;
  const Sourced<std::string> root{"/",
                                  write ? settings.allow_fs_write_all.origin : settings.read_access.origin};
  const Rights rights = write ? Rights::kReadWrite : Rights::kReadExecute;
  return builder.GrantOne(root, rights, GrantKind::kEverything);
}

// What exists under that very name. Another session that may write beside it can put a link in its place.
Result<PathLookup> LookUpAtItsName(PathResolver& resolver, const std::string& path) {
  TRY_ASSIGN(const PathLookup parent, resolver.LookUp(ParentOf(path)));
  TRY_ASSIGN(PathLookup found, resolver.LookUp(path));
  if (!found.pin) return Error{Stage::kPolicy, ENOENT, path};
  if (found.path != JoinPath(parent.path, NameIn(path))) return Error{Stage::kPolicy, ELOOP, path};
  return found;
}

}  // namespace

Failure AddProject(PolicyBuilder& builder) {
  if (builder.input.project_dir.empty()) return std::nullopt;
  const Origin at{Layer::kCaller, "/projectDir"};
  const std::string& project = builder.parts.project;
  const bool wide = IsWithin(builder.canonical_home, project) && !builder.canonical_home.empty();
  if ((wide || project == "/") && !builder.settings.allow_wide_project.value) {
    return PolicyError(at,
                       Quoted(builder.input.project_dir) + " is " +
                           (project == builder.canonical_home ? "" : "above ") +
                           "the home directory: as a project it would open everything in it.",
                       "Open a directory below it, or set allow_wide_project to true.", project);
  }
  GrantRequest request;
  Result<PathLookup> found = builder.resolver.LookUp(TidyPath(builder.input.project_dir));
  if (!found.ok()) return PolicyError(at, "The project cannot be opened.", "", project, found.error().err);
  // It was there, and elsewhere, a moment ago.
  if (!found.value().pin || found.value().path != project)
    return PolicyError(at, "The project was exchanged meanwhile.", "", project, ESTALE);
  builder.project_links = LinkDirectoriesOfTheUser(builder.resolver, found.value());
  request.link_directories = builder.project_links;
  request.grant.pin = std::move(*found.value().pin);
  request.grant.rights = ProjectRights(builder.settings);
  request.grant.kind = GrantKind::kProject;
  request.grant.origin = at;
  request.spelled = project;
  request.text = builder.input.project_dir;
  request.is_explicit = true;
  builder.rules.AddGrant(std::move(request));
  return std::nullopt;
}

Failure AddSystemPaths(PolicyBuilder& builder) {
  const Settings& settings = builder.settings;
  AddDeviceHole(builder);
  if (Failure failure = AddEverything(builder)) return failure;
  if (Failure failure = builder.GrantList(settings.executable, Rights::kReadExecute, GrantKind::kSystem))
    return failure;
  if (Failure failure = builder.GrantList(settings.read_only, Rights::kRead, GrantKind::kSystem))
    return failure;
  if (Failure failure = AddReadWrite(builder)) return failure;
  if (Failure failure = AddDotfiles(builder)) return failure;
  return AddBuiltin(builder);
}

// The places of the lists that the project's settings have cut down. "/dev" stands for the one of its set
// that holds files.
Failure NoteOnceWritable(PolicyBuilder& builder) {
  const std::optional<WritablePlaces>& before = builder.settings.before_tightening;
  if (!before) return std::nullopt;
  if (before->everything) builder.once_writable.emplace_back("/");
  if (before->project == ProjectAccess::kReadWrite && !builder.parts.project.empty())
    builder.once_writable.push_back(builder.parts.project);
  for (const PathList* list : {&before->system, &before->additional}) {
    for (const Sourced<std::string>& text : list->items) {
      const bool devices = TidyPath(text.value) == kDeviceDirectory;
      const Expansion expansion = builder.resolver.Expand(devices ? "/dev/shm" : text.value);
      if (expansion.outcome != Expansion::Outcome::kPath) continue;  // not in that session's lists either
      const Result<PathLookup> found = builder.resolver.LookUp(expansion.text);
      if (!found.ok()) {
        return PolicyError(
            text.origin,
            "Whether " + Quoted(text.value) +
                " holds links that were followed cannot be told: " + std::strerror(found.error().err) + ".",
            "Make it accessible, or take it off the list.", expansion.text, found.error().err);
      }
      builder.once_writable.push_back(found.value().path);
    }
  }
  return std::nullopt;
}

Failure AddUserPaths(PolicyBuilder& builder) {
  const Settings& s = builder.settings;
  const GrantKind kind = GrantKind::kAdditional;
  if (Failure failure = builder.GrantList(s.additional_executable, Rights::kReadExecute, kind))
    return failure;
  if (Failure failure = builder.GrantList(s.additional_read_only, Rights::kRead, kind)) return failure;
  return builder.GrantList(s.additional_read_write, Rights::kReadWrite, kind);
}

Failure AddTemp(PolicyBuilder& builder) {
  if (builder.settings.temp.value != TempMode::kPrivate || builder.input.temp_dir.empty())
    return std::nullopt;
  const std::string path = TidyPath(builder.input.temp_dir);
  Result<PathLookup> found = LookUpAtItsName(builder.resolver, path);
  if (!found.ok()) {
    return PolicyError({Layer::kCaller, "/tempDir"},
                       "The private temporary directory " + Quoted(path) +
                           " is not what it was made as: " + std::strerror(found.error().err) + ".",
                       "", path, found.error().err);
  }
  GrantRequest request;
  request.link_directories = LinkDirectoriesOfTheUser(builder.resolver, found.value());
  request.grant.pin = std::move(*found.value().pin);
  request.grant.rights = Rights::kReadWrite;
  request.grant.kind = GrantKind::kTemp;
  request.grant.origin = builder.settings.temp.origin;
  request.spelled = request.text = path;
  request.is_explicit = builder.settings.temp.origin.layer != Layer::kDefault;
  builder.rules.AddGrant(std::move(request));
  return std::nullopt;
}

}  // namespace spty
