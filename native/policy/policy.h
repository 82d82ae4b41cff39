// What one session may do. Made once by ResolvePolicy, never changed, shared by everybody who enforces or
// explains it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/environment.h"
#include "policy/path_pin.h"
#include "policy/rights.h"
#include "settings/settings.h"

namespace spty {

enum class GrantKind : uint8_t {
  kProject,
  kSystem,
  kAdditional,
  kDotfile,
  kDevice,
  kGit,
  kTemp,
  kBuiltin,
  kEverything
};

// Everything at and below a place. After ResolvePolicy no grant is covered by another one.
struct Grant {
  PinnedPath pin;
  Rights rights = Rights::kNone;
  GrantKind kind = GrantKind::kSystem;
  Origin origin;

  const std::string& path() const { return pin.path; }
};

enum class HoleKind : uint8_t { kCredential, kGit, kDevice };

// A place cut out of wider grants. A grant at or below it (spelled out by somebody who may) is not affected.
struct Hole {
  // Canonical; where it would be if it does not exist yet.
  std::string path;
  // As the setting spells it, absolute, links not resolved.
  std::string spelled;
  // Nothing at all is allowed there; else it may be read and executed as far as granted, but not written.
  bool denies_read = true;
  HoleKind kind = HoleKind::kCredential;
  Origin origin;
  std::optional<PinnedPath> pin;  // if it exists
  // Whether a wider grant would allow reading, or writing, there: without one nothing has to be cut.
  bool cuts_read = false;
  bool cuts_write = false;
  // Nobody but the project's settings asks for it. Sessions may have written those.
  bool by_project_only = false;
};

// Whether Landlock, which can only grant, cuts the hole out by granting what lies around it. The directories
// on the way get no right then, not even to be listed: that would count in the hole, too. Git metadata in a
// writable directory is not cut out in this way: nothing new could be made in the project any more.
bool IsGrantedAround(const Grant& grant, const Hole& hole);

// Whether a socket that somebody outside has bound below it may be connected to: what is writable and granted
// for its own sake, not the shared places of the system, nor a project that holds one of those.
bool MayHoldSockets(const Grant& grant);

// A UNIX socket, or a directory of them, that may be connected to. By path, not by inode: daemons restart.
struct SocketRule {
  std::string path;
  bool exists = false;
  Origin origin;
  FileType type = FileType::kOther;  // if it exists
};

enum class NetworkMode : uint8_t { kNone, kFiltered, kAll };

struct NetworkPolicy {
  NetworkMode mode = NetworkMode::kNone;
  // In kFiltered: all hosts but the denied ones, else the listed ones but the denied ones.
  bool all_hosts = false;
  HostList hosts;
  HostList denied;
  Origin origin;

  // A denied pattern wins over an allowed one.
  bool Allows(std::string_view untrusted_host, uint16_t port) const;
};

enum class RepositoryKind : uint8_t { kAbsent, kMain, kLinkedWorktree, kSubmodule };

// The Git metadata of one working tree.
struct GitRepository {
  RepositoryKind kind = RepositoryKind::kAbsent;
  std::string worktree;
  std::string link;        // <worktree>/.git, whatever it is
  std::string git_dir;     // where it leads; empty if absent
  std::string common_dir;  // shared with other worktrees; often git_dir
  bool link_is_directory = false;
  // Of the links that led to the working tree, those that a process of this user can have made.
  std::vector<std::string> link_directories;
  // Whether the metadata outside the working tree points back to it. What does not is never granted: a file
  // in a repository must not open another directory by claiming that it is its Git directory.
  bool verified = false;
};

enum class SkipReason : uint8_t {
  kMissing,
  kUnsetVariable,
  kInsideHole,
  kNotVerified,
  kWritableLink,  // leads through a symbolic link that an earlier session may have put there
  kNoSocket
};

// A path of the settings that is not in force, and why.
struct SkippedPath {
  std::string text;  // as in the setting
  std::string path;  // as far as it could be resolved
  SkipReason reason = SkipReason::kMissing;
  std::string message;
  Origin origin;
};

struct Limits {
  std::optional<Sourced<uint64_t>> processes;
  std::optional<Sourced<uint64_t>> memory_bytes;
  std::optional<Sourced<double>> cpu_percent;
};

enum class Protection : uint8_t {
  kFiles,
  kReadHoles,
  kWriteHoles,
  kPrivateTemp,
  kPrivatePty,
  kUnixSockets,
  kOutsiders,  // signals and abstract sockets
  kNetwork,
  kSyscalls,
  kPrivileges,
  kDescriptors,
  kEnvironment,
  kLimits,
};

template <>
std::span<const EnumName<GrantKind>> EnumNames();
template <>
std::span<const EnumName<HoleKind>> EnumNames();
template <>
std::span<const EnumName<NetworkMode>> EnumNames();
template <>
std::span<const EnumName<RepositoryKind>> EnumNames();
template <>
std::span<const EnumName<SkipReason>> EnumNames();
template <>
std::span<const EnumName<Protection>> EnumNames();

struct FileDecision {
  bool allowed = false;
  const Grant* grant = nullptr;  // what allows it
  const Hole* hole = nullptr;    // what forbids it although a grant would allow it
};

// For a canonical path. The longest rule wins: a grant decides unless a hole lies between it and the path.
FileDecision DecideFile(const std::vector<Grant>& grants, const std::vector<Hole>& holes,
                        std::string_view canonical_path, Rights rights);

// The parts, while they are put together.
struct PolicyParts {
  std::shared_ptr<const Settings> settings;
  SessionKind kind = SessionKind::kTerminal;
  // False: the session is tracked, nothing is restricted, and the lists below are empty.
  bool confined = false;
  // The setting that decided about `confined`.
  Origin confined_by;
  std::string home;
  std::string project;  // canonical; empty if there is none
  std::vector<Grant> grants;
  std::vector<Hole> holes;
  std::vector<SocketRule> unix_sockets;
  NetworkPolicy network;
  std::vector<GitRepository> repositories;
  std::vector<SkippedPath> skipped;
  std::vector<EnvVar> environment;
  std::vector<Protection> required;
};

class Policy {
 public:
  explicit Policy(PolicyParts parts);
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;

  bool confined() const { return parts_.confined; }
  const Origin& confined_by() const { return parts_.confined_by; }
  SessionKind kind() const { return parts_.kind; }
  const std::string& home() const { return parts_.home; }
  const std::string& project() const { return parts_.project; }
  // Sorted by path.
  const std::vector<Grant>& grants() const { return parts_.grants; }
  const std::vector<Hole>& holes() const { return parts_.holes; }
  const std::vector<SocketRule>& unix_sockets() const { return parts_.unix_sockets; }
  const NetworkPolicy& network() const { return parts_.network; }
  const std::vector<GitRepository>& repositories() const { return parts_.repositories; }
  const std::vector<SkippedPath>& skipped() const { return parts_.skipped; }
  const std::vector<EnvVar>& environment() const { return parts_.environment; }
  // What has to be enforced. With strict() the session must not start without all of it.
  const std::vector<Protection>& required() const { return parts_.required; }
  bool strict() const { return parts_.settings->strict.value; }
  bool fail_if_unavailable() const { return parts_.settings->fail_if_unavailable.value; }
  Backend backend() const { return parts_.settings->backend.value; }
  GitAccess git_access() const { return parts_.settings->git_access.value; }
  TempMode temp() const { return parts_.settings->temp.value; }
  NestedPty nested_pty() const { return parts_.settings->nested_pty.value; }
  Limits limits() const;
  const Settings& settings() const { return *parts_.settings; }

  FileDecision Decide(std::string_view canonical_path, Rights rights) const;
  // The rule that allows connecting to the UNIX socket at this canonical path, or null. Does not know of
  // sockets that the session makes itself.
  const SocketRule* FindSocketRule(std::string_view canonical_path) const;

 private:
  PolicyParts parts_;
};

// A JSON object for people and programs; file descriptors and the values of the environment stay out of it.
std::string PolicyToJson(const Policy& policy);

}  // namespace spty
