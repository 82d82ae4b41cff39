// One layer as it was written: every field may be absent. Aliases are already their real names here.
#pragma once

#include <cstdint>
#include <optional>

#include "settings/env_pattern.h"
#include "settings/host_pattern.h"
#include "settings/origin.h"
#include "settings/types.h"

namespace spty {

template <typename T>
using Field = std::optional<Sourced<T>>;

using HostList = SourcedList<HostPattern>;
using EnvList = SourcedList<EnvPattern>;

struct SettingsContent {
  Field<bool> enabled;
  Field<ApplyTo> apply_to;
  Field<Profile> profile;
  std::optional<PathList> executable;  // system_paths.*
  std::optional<PathList> read_only;
  std::optional<PathList> read_write;
  std::optional<PathList> additional_executable;
  std::optional<PathList> additional_read_only;
  std::optional<PathList> additional_read_write;
  Field<ReadAccess> read_access;
  std::optional<PathList> denied_read;
  Field<bool> allow_network;
  std::optional<HostList> network_hosts;
  Field<bool> allow_all_hosts;
  std::optional<HostList> denied_domains;
  std::optional<PathList> unix_sockets;
  Field<GitAccess> git_access;
  Field<TempMode> temp;
  Field<NestedPty> nested_pty;
  std::optional<EnvList> allowed_env_vars;
  Field<bool> allow_fs_write_all;
  Field<bool> allow_unsandboxed;
  Field<bool> allow_wide_project;
  Field<bool> strict;
  Field<bool> fail_if_unavailable;
  Field<Backend> backend;
  Field<uint64_t> max_processes;
  Field<uint64_t> max_memory_bytes;
  Field<double> max_cpu_percent;

  // Takes over every field that `later` sets.
  void Overlay(const SettingsContent& later);
};

// What a person approved. Approvals only ever add.
struct PermissionsContent {
  std::optional<HostList> network_hosts;
  Field<bool> allow_all_hosts;
  Field<bool> allow_git_access;
  std::optional<PathList> write_paths;
  Field<bool> allow_fs_write_all;
  Field<bool> allow_unsandboxed;
};

}  // namespace spty
