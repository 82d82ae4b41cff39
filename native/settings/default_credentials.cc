// The default of denied_read_paths: where programs keep what would let a stranger act as the user.
#include "settings/defaults.h"

namespace spty {
namespace {

// clang-format off
#define SPTY_COMMON_CREDENTIALS                                                                                  \
  /* keys */ "~/.ssh", "~/.gnupg", "~/.password-store", "~/.config/sops", "~/.config/age",                       \
  /* clouds */ "~/.aws", "~/.azure", "~/.oci", "~/.config/gcloud", "~/.config/doctl", "~/.config/hcloud",        \
  "~/.config/scw", "~/.config/rclone", "~/.boto", "~/.s3cfg", "~/.databrickscfg", "~/.fly", "~/.vault-token",    \
  "~/.terraform.d/credentials.tfrc.json",                                                                        \
  /* containers */ "~/.docker", "~/.kube", "~/.config/containers/auth.json", "~/.config/helm",                   \
  /* code hosting */ "~/.config/gh", "~/.config/hub", "~/.config/glab-cli", "~/.config/git/credentials",         \
  "~/.git-credentials", "~/.netrc", "~/.config/github-copilot",                                                  \
  /* package registries */ "~/.npmrc", "~/.yarnrc.yml", "~/.pypirc", "~/.cargo/credentials",                     \
  "~/.cargo/credentials.toml", "~/.gem/credentials", "~/.m2/settings.xml", "~/.gradle/gradle.properties",        \
  "~/.config/pypoetry/auth.toml", "~/.composer/auth.json", "~/.config/composer/auth.json",                       \
  /* password managers */ "~/.config/op"
// clang-format on

constexpr std::string_view kLinux[] = {SPTY_COMMON_CREDENTIALS,   "~/.local/share/keyrings",
                                       "~/.local/share/kwalletd", "~/.pki",
                                       "~/.config/Bitwarden",     "~/.config/Bitwarden CLI",
                                       "~/.config/keepassxc",     "~/.mozilla",
                                       "~/.config/google-chrome", "~/.config/chromium",
                                       "~/.config/BraveSoftware", "~/.config/microsoft-edge",
                                       "~/.config/vivaldi",       "~/.config/opera",
                                       "~/.thunderbird",          "~/.config/Signal",
                                       "~/.config/Slack",         "~/.config/discord"};

constexpr std::string_view kMacos[] = {SPTY_COMMON_CREDENTIALS,
                                       "~/Library/Keychains",
                                       "~/Library/Application Support/Bitwarden",
                                       "~/Library/Application Support/1Password",
                                       "~/Library/Group Containers/2BUA8C4S2C.com.1password",
                                       "~/Library/Cookies",
                                       "~/Library/Safari",
                                       "~/Library/Mail",
                                       "~/Library/Messages",
                                       "~/Library/Application Support/Google/Chrome",
                                       "~/Library/Application Support/Chromium",
                                       "~/Library/Application Support/BraveSoftware",
                                       "~/Library/Application Support/Microsoft Edge",
                                       "~/Library/Application Support/Firefox",
                                       "~/Library/Application Support/Vivaldi",
                                       "~/Library/Application Support/Arc",
                                       "~/Library/Application Support/Signal",
                                       "~/Library/Application Support/Slack",
                                       "~/Library/Application Support/discord",
                                       "~/Library/Application Support/com.apple.TCC"};

#undef SPTY_COMMON_CREDENTIALS

// Of /sys, what goes on in the kernel, in other processes and in devices (what is typed, on some machines):
// it takes no capability to read that, only root. By name, as it may be mounted at any time.
constexpr std::string_view kRootOnly[] = {"/etc/shadow",   "/etc/shadow-",      "/etc/gshadow",
                                          "/etc/gshadow-", "/sys/kernel/debug", "/sys/kernel/tracing",
                                          "/sys/fs/pstore"};

}  // namespace

std::span<const std::string_view> DefaultDeniedReadPaths(Platform platform) {
  switch (platform) {
    case Platform::kLinux:
      return kLinux;
    case Platform::kMacos:
      return kMacos;
    case Platform::kWindows:
      break;
  }
  return {};
}

std::span<const std::string_view> RootOnlySecrets(Platform platform) {
  return platform == Platform::kLinux ? std::span<const std::string_view>(kRootOnly)
                                      : std::span<const std::string_view>();
}

}  // namespace spty
