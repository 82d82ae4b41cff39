// The built-in lists, as data. Which of them applies is the business of layers.cc and of native/policy.
#pragma once

#include <span>
#include <string_view>

#include "settings/types.h"

namespace spty {

struct SystemPathDefaults {
  std::span<const std::string_view> executable;
  std::span<const std::string_view> read_only;
  std::span<const std::string_view> read_write;
};

SystemPathDefaults DefaultSystemPaths(Platform platform);

// In the home directory, readable so that a shell starts as usual.
std::span<const std::string_view> HomeDotfiles();

// Credentials, cut out of any wider grant.
std::span<const std::string_view> DefaultDeniedReadPaths(Platform platform);
// Files that only root can read: a secret only if the session is root's.
std::span<const std::string_view> RootOnlySecrets(Platform platform);

std::span<const std::string_view> DefaultEnvVars();

// Sockets through which libc looks up users and groups; harmless in every mode.
std::span<const std::string_view> AccountLookupSockets(Platform platform);
// Sockets through which libc looks up hosts. A name can carry data out, so only where the network is open.
std::span<const std::string_view> HostLookupSockets(Platform platform);
// The user's SSH agent.
inline constexpr std::string_view kSshAgentSocket = "$SSH_AUTH_SOCK";

// What "/dev" in system_paths.read_write stands for.
std::span<const std::string_view> DeviceSet(Platform platform);
// What nested_pty "shared" adds.
std::span<const std::string_view> SharedPtyDevices(Platform platform);

// The entries of the default read_write list that "temp": "private" replaces.
bool IsSharedTemp(std::string_view default_path);

struct ProfileDefaults {
  ReadAccess read_access;
  ProjectAccess project_access;
  bool system_read_write;  // the whole default list, else the device set only
  bool network;
  GitAccess git_access;
  TempMode temp;
  NestedPty nested_pty;
  bool ssh_agent;
};

const ProfileDefaults& DefaultsOf(Profile profile);

}  // namespace spty
