// Settings + project + environment -> Policy. The only kernel calls are path look-ups.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "policy/policy.h"
#include "settings/settings_error.h"

namespace spty {

struct PolicyInput {
  // Already for the right kind: ResolvedSettings::ForKind. Shared, as a spawn should not have to copy them.
  std::shared_ptr<const Settings> settings;
  SessionKind kind = SessionKind::kTerminal;
  // May be empty: then no project is granted. Never taken from the working directory, which a program
  // chooses.
  std::string project_dir;
  std::string cwd;
  std::string home;
  std::vector<EnvVar> env;
  std::vector<EnvVar> extra_env;
  std::string term;
  // The session's private temporary directory, if it has been made already.
  std::string temp_dir;
  // Further working trees whose Git metadata needs protection.
  std::vector<std::string> repositories;
  // Somebody asks to run this one outside the sandbox; needs allow_unsandboxed.
  bool unsandboxed = false;
  // Root can read what nobody else can.
  bool is_root = false;
};

SettingsResult<std::shared_ptr<const Policy>> ResolvePolicy(PolicyInput input);

}  // namespace spty
