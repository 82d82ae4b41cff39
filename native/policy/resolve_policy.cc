#include "policy/resolve_policy.h"

#include <cerrno>
#include <cstring>

#include "policy/path_text.h"
#include "policy/policy_builder.h"
#include "policy/second_names.h"
#include "settings/defaults.h"
#include "settings/text.h"

namespace spty {
namespace {

struct Confinement {
  bool confined = false;
  Origin by;
};

bool Applies(ApplyTo apply_to, SessionKind kind) {
  if (apply_to == ApplyTo::kBoth) return true;
  return apply_to == (kind == SessionKind::kTerminal ? ApplyTo::kTerminal : ApplyTo::kTool);
}

SettingsResult<Confinement> DecideConfinement(const PolicyInput& input) {
  const Settings& s = *input.settings;
  if (!s.enabled.value) return Confinement{false, s.enabled.origin};
  if (!Applies(s.apply_to.value, input.kind)) return Confinement{false, s.apply_to.origin};
  if (s.profile.value == Profile::kOff) return Confinement{false, s.profile.origin};
  if (input.unsandboxed) {
    if (s.allow_unsandboxed.value) return Confinement{false, s.allow_unsandboxed.origin};
    return PolicyError({Layer::kCaller, "/unsandboxed"}, "Running without the sandbox is not allowed.",
                       "Approve it by setting allow_unsandboxed to true.");
  }
  if (s.platform == Platform::kWindows) {
    return PolicyError(s.enabled.origin, "There is no sandbox for Windows itself.",
                       "Run the session inside WSL.");
  }
  if (s.backend.value != Backend::kNoop) return Confinement{true, s.enabled.origin};
  if (s.fail_if_unavailable.value) {
    return PolicyError(s.backend.origin,
                       "The backend \"noop\" confines nothing, and fail_if_unavailable forbids that.",
                       "Set backend to \"auto\".");
  }
  return Confinement{false, s.backend.origin};
}

Failure CheckArguments(const PolicyInput& input) {
  // Not the defaults instead: they confine nothing.
  if (input.settings == nullptr) {
    return PolicyError({Layer::kCaller, "/settings"}, "There are no settings.", "Pass settings.");
  }
  const std::pair<const char*, const std::string*> arguments[] = {{"/projectDir", &input.project_dir},
                                                                  {"/cwd", &input.cwd},
                                                                  {"/home", &input.home},
                                                                  {"/tempDir", &input.temp_dir}};
  for (const auto& [pointer, value] : arguments) {
    const Origin at{Layer::kCaller, pointer};
    if (value->find('\0') != std::string::npos)
      return PolicyError(at, "A path must not contain a NUL character.", "");
    const bool relative = !value->empty() && !value->starts_with('/');
    if (relative && value != &input.cwd) {
      return PolicyError(at, Quoted(*value) + " is relative.", "Pass an absolute path.", *value);
    }
  }
  if (input.home.empty())
    return PolicyError({Layer::kCaller, "/home"}, "The home directory is not known.", "Pass home.");
  return std::nullopt;
}

// The canonical project. A link leads to its target: what is granted is what the kernel will see.
SettingsResult<std::string> PlaceProject(const PolicyInput& input) {
  if (input.project_dir.empty()) return std::string();
  const Origin at{Layer::kCaller, "/projectDir"};
  Result<PinnedPath> pin = PinPath(input.project_dir);
  if (!pin.ok()) {
    return PolicyError(at,
                       "The project " + Quoted(input.project_dir) +
                           " cannot be opened: " + std::strerror(pin.error().err) + ".",
                       "", input.project_dir, pin.error().err);
  }
  if (pin.value().type != FileType::kDirectory) {
    return PolicyError(at, "The project " + Quoted(input.project_dir) + " is not a directory.", "",
                       input.project_dir, ENOTDIR);
  }
  return std::move(pin).value().path;
}

// Home as the kernel names it. A home that does not exist (containers) protects nothing and is compared as
// text.
SettingsResult<std::string> PlaceHome(PathResolver& resolver, const PolicyInput& input) {
  Result<PathLookup> found = resolver.LookUp(TidyPath(input.home));
  if (found.ok()) return found.value().path;
  return PolicyError({Layer::kCaller, "/home"},
                     "The home directory " + Quoted(input.home) + " cannot be resolved.", "", input.home,
                     found.error().err);
}

// A project inside a credential store would hand it over by being opened.
Failure RefuseCredentialProject(const PolicyBuilder& builder) {
  if (builder.parts.project.empty() || builder.settings.allow_wide_project.value) return std::nullopt;
  for (const Hole& hole : builder.rules.holes()) {
    if (hole.kind != HoleKind::kCredential || !IsWithin(builder.parts.project, hole.path)) continue;
    return PolicyError({Layer::kCaller, "/projectDir"},
                       Quoted(builder.parts.project) + " is protected (" + Describe(hole.origin) + ").",
                       "Open another directory, or set allow_wide_project to true.", builder.parts.project);
  }
  return std::nullopt;
}

Failure FillRules(PolicyBuilder& builder) {
  for (auto* step : {AddProject, AddSystemPaths, AddUserPaths, AddTemp, AddCredentialHoles, AddGit}) {
    if (Failure failure = step(builder)) return failure;
  }
  return std::nullopt;
}

// TMPDIR for the session: the private directory; else the inherited one if it may be written here.
std::string TempDirFor(const PolicyInput& input, const std::vector<Grant>& grants, PathResolver& resolver) {
  if (input.settings->temp.value == TempMode::kPrivate) return input.temp_dir;
  const std::string* inherited = FindEnv(input.env, "TMPDIR");
  if (inherited == nullptr || !inherited->starts_with('/')) return {};
  const Result<PathLookup> found = resolver.LookUp(TidyPath(*inherited));
  if (!found.ok()) return {};
  for (const Grant& grant : grants) {
    if (grant.rights == Rights::kReadWrite && IsWithin(found.value().path, grant.path())) return *inherited;
  }
  return {};
}

Failure FillEnvironment(const PolicyInput& input, PathResolver& resolver, PolicyParts& parts) {
  EnvironmentInput environment;
  environment.env = &input.env;
  environment.extra = &input.extra_env;
  environment.term = input.term;
  environment.pwd = input.cwd;
  if (!input.cwd.empty() && !input.cwd.starts_with('/') && !parts.project.empty()) {
    environment.pwd = TidyPath(JoinPath(parts.project, input.cwd));
  }
  if (parts.confined) {
    environment.allowed = &input.settings->allowed_env_vars;
    environment.temp_dir = TempDirFor(input, parts.grants, resolver);
  }
  auto built = BuildEnvironment(environment, input.settings->temp.value == TempMode::kPrivate);
  if (!built.ok()) return built.error();
  parts.environment = std::move(built).value();
  return std::nullopt;
}

}  // namespace

SettingsResult<std::shared_ptr<const Policy>> ResolvePolicy(PolicyInput input) {
  if (Failure failure = CheckArguments(input)) return *failure;
  TRY_ASSIGN(const Confinement confinement, DecideConfinement(input));
  std::string project;
  if (confinement.confined) {
    TRY_ASSIGN(project, PlaceProject(input));
  }
  PolicyBuilder builder{
      input, *input.settings, PathResolver(TidyPath(input.home), project, input.env), {}, {}, {}, {}, {}};
  PolicyParts& parts = builder.parts;
  parts.kind = input.kind;
  parts.confined = confinement.confined;
  parts.confined_by = confinement.by;
  parts.project = project;
  parts.home = TidyPath(input.home);
  if (parts.confined) {
    TRY_ASSIGN(builder.canonical_home, PlaceHome(builder.resolver, input));
    if (Failure failure = FillRules(builder)) return *failure;
    // Before settling: the project's own grant would open the hole it lies in.
    if (Failure failure = RefuseCredentialProject(builder)) return *failure;
    if (Failure failure = CloseSecondNames(builder)) return *failure;
    if (Failure failure = NoteOnceWritable(builder)) return *failure;
    if (Failure failure = DropPlantedGrants(builder)) return *failure;
    builder.rules.Settle(parts.grants, parts.holes, parts.skipped);
    if (Failure failure = AddSockets(builder)) return *failure;
    AddNetwork(builder);
    AddRequiredProtections(builder);
  }
  if (Failure failure = FillEnvironment(input, builder.resolver, parts)) return *failure;
  parts.settings = input.settings;
  return std::shared_ptr<const Policy>(std::make_shared<Policy>(std::move(parts)));
}

}  // namespace spty
