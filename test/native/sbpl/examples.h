// The settings examples that profiles are tested with.
#pragma once

namespace spty::sbpl {

struct Example {
  const char* name;
  const char* settings;
};

inline constexpr Example kExamples[] = {
    {"terminal", R"({"terminal": {"sandbox": {
       "enabled": true, "apply_to": "both",
       "additional_executable_paths": ["~/.cargo/bin", "~/.rustup/toolchains", "~/.local/bin"],
       "additional_read_only_paths": ["~/.ssh"],
       "additional_read_write_paths": ["~/.cargo/registry", "~/.cargo/git", "~/.cache"],
       "allow_network": true}}})"},
    {"platform-block", R"({
       "terminal": {"sandbox": {"enabled": true, "additional_read_only_paths": ["~/.ssh"]}},
       "macos": {"terminal": {"sandbox": {"system_paths": {"executable": [
         "/bin", "/usr/bin", "/usr/sbin", "/sbin", "/usr/lib", "/usr/libexec", "/System/Library/dyld",
         "/System/Cryptexes", "/Library/Developer/CommandLineTools/usr/bin"]}}}}})"},
    {"workspace", R"({"enabled": true, "profile": "workspace", "allow_read": ["$HOME/.cache/zeph"],
                      "allow_write": ["./.local"], "strict": true, "backend": "auto"})"},
    {"agent", R"({"enabled": true, "profile": "agent"})"},
    {"agent-commit", R"({"enabled": true, "profile": "agent", "git_access": "commit",
                         "network_hosts": ["github.com", "*.npmjs.org"]})"},
    {"read-only", R"({"enabled": true, "profile": "read-only"})"},
};

}  // namespace spty::sbpl
