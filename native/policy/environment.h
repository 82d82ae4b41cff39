// The environment of a session, as bytes: values may hold anything but NUL.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "settings/settings.h"
#include "settings/settings_error.h"

namespace spty {

struct EnvVar {
  std::string name;
  std::string value;

  bool operator==(const EnvVar&) const = default;
};

struct EnvironmentInput {
  const std::vector<EnvVar>* env = nullptr;
  // What the editor adds; stands above everything, the allowlist included.
  const std::vector<EnvVar>* extra = nullptr;
  // Null: nothing is filtered.
  const EnvList* allowed = nullptr;
  std::string term;
  std::string pwd;
  // Where temporary files go; empty: nothing is said about it, and what `env` says does not hold here.
  std::string temp_dir;
};

// First what passes of `env`, then TERM, PWD and TMPDIR (TMP and TEMP too, if the directory is private), then
// `extra`. Each name once. A name that is empty or has '=' or NUL, and a value with NUL, is an error.
SettingsResult<std::vector<EnvVar>> BuildEnvironment(const EnvironmentInput& input, bool private_temp);

// The value of the last one with that name, or null.
const std::string* FindEnv(const std::vector<EnvVar>& env, std::string_view name);

}  // namespace spty
