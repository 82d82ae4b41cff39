#include "settings/defaults.h"

#include <algorithm>

namespace spty {
namespace {

using List = std::span<const std::string_view>;

constexpr std::string_view kLinuxExecutable[] = {
    "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/libexec", "/lib", "/lib64", "/bin", "/sbin"};
constexpr std::string_view kLinuxReadOnly[] = {"/etc", "/usr/share", "/usr/include", "/usr/lib/locale"};
constexpr std::string_view kLinuxReadWrite[] = {"/dev", "/tmp", "/var/tmp", "/dev/shm", "/run/user"};

constexpr std::string_view kMacosExecutable[] = {"/bin",
                                                 "/usr/bin",
                                                 "/usr/sbin",
                                                 "/sbin",
                                                 "/usr/lib",
                                                 "/usr/libexec",
                                                 "/System/Library/dyld",
                                                 "/System/Cryptexes",
                                                 "/Library/Developer/CommandLineTools/usr/bin",
                                                 "/Library/Developer/CommandLineTools/usr/lib",
                                                 "/Library/Apple/usr/bin",
                                                 "/opt/homebrew/bin",
                                                 "/opt/homebrew/sbin",
                                                 "/opt/homebrew/Cellar",
                                                 "/opt/homebrew/lib",
                                                 "/usr/local/bin",
                                                 "/usr/local/lib"};
constexpr std::string_view kMacosReadOnly[] = {"/private/etc",
                                               "/usr/share",
                                               "/System/Library/Keychains",
                                               "/Library/Developer/CommandLineTools/SDKs",
                                               "/Library/Preferences/SystemConfiguration",
                                               "/opt/homebrew/share",
                                               "/opt/homebrew/etc",
                                               "/usr/local/share",
                                               "/usr/local/etc"};
constexpr std::string_view kMacosReadWrite[] = {"/dev", "/private/tmp", "/var/folders",
                                                "/private/var/run/mDNSResponder"};

constexpr std::string_view kSharedTemps[] = {"/tmp", "/var/tmp", "/private/tmp", "/var/folders"};

constexpr std::string_view kHomeDotfiles[] = {
    ".zshrc",      ".zshenv",  ".zprofile", ".zlogin",   ".zlogout",   ".bashrc", ".bash_profile",
    ".bash_login", ".profile", ".inputrc",  ".terminfo", ".gitconfig", ".config"};

constexpr std::string_view kEnvVars[] = {"PATH",
                                         "HOME",
                                         "USER",
                                         "SHELL",
                                         "LANG",
                                         "TERM",
                                         "TERM_PROGRAM",
                                         "CARGO_HOME",
                                         "RUSTUP_HOME",
                                         "GOPATH",
                                         "EDITOR",
                                         "VISUAL",
                                         "XDG_CONFIG_HOME",
                                         "XDG_DATA_HOME",
                                         "XDG_RUNTIME_DIR",
                                         "SSH_AUTH_SOCK",
                                         "GPG_TTY",
                                         "COLORTERM"};

// Not those in /run/systemd/userdb, by what systemd's source says (not tried): io.systemd.DynamicUser is
// served by the manager itself, whose methods are not bound to one address and in newer versions start units,
// and io.systemd.Multiplexer tells password hashes to root, and to each user the own one.
constexpr std::string_view kLinuxAccountSockets[] = {"/var/lib/sss/pipes/nss"};
// nscd answers for users and for hosts on one socket.
constexpr std::string_view kLinuxHostSockets[] = {
    "/run/nscd/socket", "/run/systemd/resolve/io.systemd.Resolve", "/run/avahi-daemon/socket"};
constexpr std::string_view kMacosHostSockets[] = {"/private/var/run/mDNSResponder"};

constexpr std::string_view kLinuxDevices[] = {"/dev/null",    "/dev/zero", "/dev/full", "/dev/random",
                                              "/dev/urandom", "/dev/tty",  "/dev/fd",   "/dev/shm"};
constexpr std::string_view kMacosDevices[] = {"/dev/null",    "/dev/zero", "/dev/random",
                                              "/dev/urandom", "/dev/tty",  "/dev/fd"};
constexpr std::string_view kLinuxPtys[] = {"/dev/ptmx", "/dev/pts"};
constexpr std::string_view kMacosPtys[] = {"/dev/ptmx"};

}  // namespace

SystemPathDefaults DefaultSystemPaths(Platform platform) {
  switch (platform) {
    case Platform::kLinux:
      return {kLinuxExecutable, kLinuxReadOnly, kLinuxReadWrite};
    case Platform::kMacos:
      return {kMacosExecutable, kMacosReadOnly, kMacosReadWrite};
    case Platform::kWindows:
      break;
  }
  return {};
}

List HomeDotfiles() { return kHomeDotfiles; }
List DefaultEnvVars() { return kEnvVars; }

List AccountLookupSockets(Platform platform) {
  // macOS asks its directory service over Mach messages.
  return platform == Platform::kLinux ? List(kLinuxAccountSockets) : List();
}

List HostLookupSockets(Platform platform) {
  if (platform == Platform::kLinux) return kLinuxHostSockets;
  return platform == Platform::kMacos ? List(kMacosHostSockets) : List();
}

List DeviceSet(Platform platform) {
  if (platform == Platform::kLinux) return kLinuxDevices;
  return platform == Platform::kMacos ? List(kMacosDevices) : List();
}

List SharedPtyDevices(Platform platform) {
  if (platform == Platform::kLinux) return kLinuxPtys;
  return platform == Platform::kMacos ? List(kMacosPtys) : List();
}

bool IsSharedTemp(std::string_view default_path) {
  return std::find(std::begin(kSharedTemps), std::end(kSharedTemps), default_path) != std::end(kSharedTemps);
}

}  // namespace spty
