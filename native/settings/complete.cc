// From what one or more layers said to settings without gaps.
#include <algorithm>

#include "settings/defaults.h"
#include "settings/settings.h"

namespace spty {
namespace {

Origin Default(std::string pointer) { return {Layer::kDefault, std::move(pointer)}; }

template <typename T>
Sourced<T> OrDefault(const Field<T>& field, T value, const char* pointer) {
  return field ? *field : Sourced<T>{value, Default(pointer)};
}

PathList DefaultPaths(std::span<const std::string_view> paths, const std::string& pointer) {
  PathList list{{}, Default(pointer)};
  for (size_t i = 0; i < paths.size(); ++i) {
    list.items.push_back({std::string(paths[i]), Default(AppendPointer(pointer, i))});
  }
  return list;
}

PathList OrDefault(const std::optional<PathList>& field, std::span<const std::string_view> paths,
                   const std::string& pointer) {
  return field ? *field : DefaultPaths(paths, pointer);
}

EnvList DefaultEnv() {
  const std::string pointer = "/allowed_env_vars";
  EnvList list{{}, Default(pointer)};
  for (std::string_view name : DefaultEnvVars()) {
    list.items.push_back({*EnvPattern::Parse(name), Default(AppendPointer(pointer, list.items.size()))});
  }
  return list;
}

void CompletePaths(const SettingsContent& content, const ProfileDefaults& profile, Settings& settings) {
  const SystemPathDefaults system = DefaultSystemPaths(settings.platform);
  settings.executable = OrDefault(content.executable, system.executable, "/system_paths/executable");
  settings.read_only = OrDefault(content.read_only, system.read_only, "/system_paths/read_only");
  // "/dev", the device set, comes first in every list and is what a tighter profile keeps.
  const auto read_write =
      profile.system_read_write || system.read_write.empty() ? system.read_write : system.read_write.first(1);
  settings.read_write = OrDefault(content.read_write, read_write, "/system_paths/read_write");
  if (!content.read_write && !profile.system_read_write && settings.temp.value == TempMode::kShared) {
    // Asked for in so many words, by somebody whose profile keeps the rest of the list out.
    for (std::string_view path : system.read_write) {
      if (IsSharedTemp(path)) settings.read_write.items.push_back({std::string(path), settings.temp.origin});
    }
  }
  settings.additional_executable =
      OrDefault(content.additional_executable, {}, "/additional_executable_paths");
  settings.additional_read_only = OrDefault(content.additional_read_only, {}, "/additional_read_only_paths");
  settings.additional_read_write =
      OrDefault(content.additional_read_write, {}, "/additional_read_write_paths");
  settings.denied_read =
      OrDefault(content.denied_read, DefaultDeniedReadPaths(settings.platform), "/denied_read_paths");
  DropSharedTemp(settings);
}

// The field of the later layer decides between the three ways to speak about the network; within one layer an
// explicit allow_network decides. A list of hosts next to an unset allow_network is the narrower reading:
// these only.
void CompleteNetwork(const SettingsContent& content, const ProfileDefaults& profile, Settings& settings) {
  const auto layer_of = [](const auto& field) { return field ? field->origin.layer : Layer::kDefault; };
  const Layer switch_layer = layer_of(content.allow_network);
  const Layer hosts_layer = layer_of(content.network_hosts);
  const bool switched_off = content.allow_network && !content.allow_network->value;

  settings.network_hosts =
      content.network_hosts ? *content.network_hosts : HostList{{}, Default("/network_hosts")};
  settings.denied_domains =
      content.denied_domains ? *content.denied_domains : HostList{{}, Default("/denied_domains")};
  settings.network_all = OrDefault(content.allow_network, profile.network, "/allow_network");
  if (!settings.network_hosts.items.empty() && hosts_layer > switch_layer) {
    settings.network_all = {false, settings.network_hosts.origin};
  }
  if (switched_off && switch_layer > hosts_layer)
    settings.network_hosts = {{}, content.allow_network->origin};
  const Field<bool>& all = content.allow_all_hosts;
  if (all && all->value && all->origin.layer >= hosts_layer &&
      (all->origin.layer > switch_layer || !switched_off)) {
    settings.network_all = *all;
  }
}

void CompleteSockets(const SettingsContent& content, const ProfileDefaults& profile, Settings& settings) {
  if (content.unix_sockets) {
    settings.unix_sockets = *content.unix_sockets;
    return;
  }
  const std::string pointer = "/unix_sockets";
  PathList& list = settings.unix_sockets;
  list = DefaultPaths(AccountLookupSockets(settings.platform), pointer);
  const auto add = [&](std::string_view path) {
    list.items.push_back({std::string(path), Default(AppendPointer(pointer, list.items.size()))});
  };
  for (std::string_view path : HostLookupSockets(settings.platform)) add(path);
  if (profile.ssh_agent) add(kSshAgentSocket);
  DropHostLookup(settings);
}

}  // namespace

void DropSharedTemp(Settings& settings) {
  if (settings.temp.value != TempMode::kPrivate) return;
  std::erase_if(settings.read_write.items, [](const Sourced<std::string>& path) {
    return path.origin.layer == Layer::kDefault && IsSharedTemp(path.value);
  });
}

void DropHostLookup(Settings& settings) {
  // Behind a filter the proxy looks names up, and without a network nobody should.
  if (settings.network_all.value && settings.denied_domains.items.empty()) return;
  const auto lookups = HostLookupSockets(settings.platform);
  std::erase_if(settings.unix_sockets.items, [&](const Sourced<std::string>& path) {
    return path.origin.layer == Layer::kDefault &&
           std::find(lookups.begin(), lookups.end(), path.value) != lookups.end();
  });
}

Settings CompleteSettings(const SettingsContent& content, Platform platform) {
  Settings settings;
  settings.platform = platform;
  settings.enabled = OrDefault(content.enabled, false, "/enabled");
  settings.apply_to = OrDefault(content.apply_to, ApplyTo::kBoth, "/apply_to");
  settings.profile = OrDefault(content.profile, Profile::kTerminal, "/profile");
  const ProfileDefaults& profile = DefaultsOf(settings.profile.value);
  settings.read_access = OrDefault(content.read_access, profile.read_access, "/read_access");
  settings.project_access = {profile.project_access, settings.profile.origin};
  settings.git_access = OrDefault(content.git_access, profile.git_access, "/git_access");
  settings.temp = OrDefault(content.temp, profile.temp, "/temp");
  settings.nested_pty = OrDefault(content.nested_pty, profile.nested_pty, "/nested_pty");
  settings.allowed_env_vars = content.allowed_env_vars ? *content.allowed_env_vars : DefaultEnv();
  settings.allow_fs_write_all = OrDefault(content.allow_fs_write_all, false, "/allow_fs_write_all");
  settings.allow_unsandboxed = OrDefault(content.allow_unsandboxed, false, "/allow_unsandboxed");
  settings.allow_wide_project = OrDefault(content.allow_wide_project, false, "/allow_wide_project");
  settings.strict = OrDefault(content.strict, true, "/strict");
  settings.fail_if_unavailable = OrDefault(content.fail_if_unavailable, false, "/fail_if_unavailable");
  settings.backend = OrDefault(content.backend, Backend::kAuto, "/backend");
  settings.max_processes = content.max_processes;
  settings.max_memory_bytes = content.max_memory_bytes;
  settings.max_cpu_percent = content.max_cpu_percent;
  CompletePaths(content, profile, settings);
  CompleteNetwork(content, profile, settings);
  CompleteSockets(content, profile, settings);
  return settings;
}

}  // namespace spty
