// The settings in force: every field has a value, and every value knows where it came from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "settings/content.h"

namespace spty {

// What sessions may write, as far as links can be put there.
struct WritablePlaces {
  PathList system;
  PathList additional;
  ProjectAccess project = ProjectAccess::kReadOnly;
  bool everything = false;
};

struct Settings {
  Platform platform = Platform::kLinux;
  Sourced<bool> enabled;
  Sourced<ApplyTo> apply_to;
  Sourced<Profile> profile;
  PathList executable;  // system_paths.*
  PathList read_only;
  PathList read_write;
  PathList additional_executable;
  PathList additional_read_only;
  PathList additional_read_write;
  Sourced<ReadAccess> read_access;
  // What the profile gives on the project itself; no field of its own.
  Sourced<ProjectAccess> project_access;
  PathList denied_read;
  // Every host, but the denied ones; else only `network_hosts`, which may be empty.
  Sourced<bool> network_all;
  HostList network_hosts;
  HostList denied_domains;
  PathList unix_sockets;
  Sourced<GitAccess> git_access;
  Sourced<TempMode> temp;
  Sourced<NestedPty> nested_pty;
  EnvList allowed_env_vars;
  Sourced<bool> allow_fs_write_all;
  Sourced<bool> allow_unsandboxed;
  Sourced<bool> allow_wide_project;
  Sourced<bool> strict;
  Sourced<bool> fail_if_unavailable;
  Sourced<Backend> backend;
  std::optional<Sourced<uint64_t>> max_processes;
  std::optional<Sourced<uint64_t>> max_memory_bytes;
  std::optional<Sourced<double>> max_cpu_percent;
  // What the user's settings let sessions write before an untrusted project tightened them, if it did. A
  // session that ran without the project's file may have left links there, and may have written that file.
  std::optional<WritablePlaces> before_tightening;
};

// Something an untrusted project asked for and did not get.
struct Refusal {
  Origin at;
  std::string message;
};

struct ResolvedSettings {
  // For an interactive terminal.
  Settings settings;
  // With the approvals of the agent; absent if there are none.
  std::optional<Settings> tool_settings;
  // agent.sandbox_permissions found in a document: approvals given to the agent, not to the user's own
  // terminal.
  std::vector<PermissionsContent> agent_permissions;
  std::vector<Refusal> refused;

  const Settings& ForKind(SessionKind kind) const;
};

// Adds what was approved. Approvals never take anything away.
void ApplyPermissions(const PermissionsContent& permissions, Settings& settings);

// The defaults of everything that `content` leaves open.
Settings CompleteSettings(const SettingsContent& content, Platform platform);

// Drops the shared temporary directories of the default lists if `temp` is private.
void DropSharedTemp(Settings& settings);

// Drops the default sockets for host look-ups unless the network is open to all: a name can carry data out.
void DropHostLookup(Settings& settings);

// The settings as JSON, each value with its origin; for display and for tests.
std::string SettingsToJson(const Settings& settings);
std::string RefusalsToJson(const std::vector<Refusal>& refused);

}  // namespace spty
