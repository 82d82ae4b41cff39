#include "settings/content.h"

namespace spty {
namespace {

template <typename T>
void Take(std::optional<T>& field, const std::optional<T>& later) {
  if (later) field = later;
}

}  // namespace

void SettingsContent::Overlay(const SettingsContent& later) {
  Take(enabled, later.enabled);
  Take(apply_to, later.apply_to);
  Take(profile, later.profile);
  Take(executable, later.executable);
  Take(read_only, later.read_only);
  Take(read_write, later.read_write);
  Take(additional_executable, later.additional_executable);
  Take(additional_read_only, later.additional_read_only);
  Take(additional_read_write, later.additional_read_write);
  Take(read_access, later.read_access);
  Take(denied_read, later.denied_read);
  Take(allow_network, later.allow_network);
  Take(network_hosts, later.network_hosts);
  Take(allow_all_hosts, later.allow_all_hosts);
  Take(denied_domains, later.denied_domains);
  Take(unix_sockets, later.unix_sockets);
  Take(git_access, later.git_access);
  Take(temp, later.temp);
  Take(nested_pty, later.nested_pty);
  Take(allowed_env_vars, later.allowed_env_vars);
  Take(allow_fs_write_all, later.allow_fs_write_all);
  Take(allow_unsandboxed, later.allow_unsandboxed);
  Take(allow_wide_project, later.allow_wide_project);
  Take(strict, later.strict);
  Take(fail_if_unavailable, later.fail_if_unavailable);
  Take(backend, later.backend);
  Take(max_processes, later.max_processes);
  Take(max_memory_bytes, later.max_memory_bytes);
  Take(max_cpu_percent, later.max_cpu_percent);
}

}  // namespace spty
