#include "policy/environment.h"

#include <algorithm>

#include "settings/text.h"

namespace spty {
namespace {

constexpr char kDefaultTerm[] = "xterm-256color";

void Set(std::vector<EnvVar>& env, std::string_view name, std::string_view value) {
  for (EnvVar& var : env) {
    if (var.name == name) {
      var.value = value;
      return;
    }
  }
  env.push_back({std::string(name), std::string(value)});
}

void Unset(std::vector<EnvVar>& env, std::string_view name) {
  std::erase_if(env, [&](const EnvVar& var) { return var.name == name; });
}

std::optional<SettingsError> CheckVars(const std::vector<EnvVar>& vars, const char* pointer) {
  for (const EnvVar& var : vars) {
    SettingsError error;
    error.code = kErrPolicy;
    error.at = {Layer::kCaller, AppendPointer(pointer, var.name)};
    if (var.name.empty() || var.name.find_first_of(std::string_view("=\0", 2)) != std::string::npos) {
      error.message = Quoted(var.name) + " cannot be the name of an environment variable.";
      error.suggestion = "A name is not empty and has neither = nor NUL.";
      return error;
    }
    if (var.value.find('\0') != std::string::npos) {
      error.message = "The value of " + Quoted(var.name) + " contains a NUL, which no environment can hold.";
      return error;
    }
  }
  return std::nullopt;
}

bool Passes(const EnvList* allowed, const std::string& name) {
  if (allowed == nullptr) return true;
  return std::any_of(allowed->items.begin(), allowed->items.end(),
                     [&](const auto& item) { return item.value.Matches(name); });
}

}  // namespace

const std::string* FindEnv(const std::vector<EnvVar>& env, std::string_view name) {
  const auto found =
      std::find_if(env.rbegin(), env.rend(), [&](const EnvVar& var) { return var.name == name; });
  return found == env.rend() ? nullptr : &found->value;
}

SettingsResult<std::vector<EnvVar>> BuildEnvironment(const EnvironmentInput& input, bool private_temp) {
  if (auto error = CheckVars(*input.env, "/env")) return *error;
  if (auto error = CheckVars(*input.extra, "/extraEnv")) return *error;
  std::vector<EnvVar> result;
  for (const EnvVar& var : *input.env) {
    if (Passes(input.allowed, var.name)) Set(result, var.name, var.value);
  }
  const std::string* inherited_term = FindEnv(*input.env, "TERM");
  if (!input.term.empty()) {
    Set(result, "TERM", input.term);
  } else {
    Set(result, "TERM",
        inherited_term != nullptr && !inherited_term->empty() ? *inherited_term : kDefaultTerm);
  }
  if (!input.pwd.empty()) Set(result, "PWD", input.pwd);
  if (input.allowed != nullptr) {
    for (const char* name : {"TMPDIR", "TMP", "TEMP"}) {
      // Whatever was inherited points to a place that may not be granted here.
      Unset(result, name);
      if (!input.temp_dir.empty() && (private_temp || std::string_view(name) == "TMPDIR")) {
        Set(result, name, input.temp_dir);
      }
    }
  }
  for (const EnvVar& var : *input.extra) Set(result, var.name, var.value);
  return result;
}

}  // namespace spty
