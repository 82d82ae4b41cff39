#include "settings/read_content.h"

#include <algorithm>
#include <vector>

#include "settings/text.h"

namespace spty {
namespace {

constexpr uint64_t kMaxProcesses = 4194304;  // the kernel's PID_MAX_LIMIT
constexpr uint64_t kMinMemory = 1 << 20;
constexpr uint64_t kMaxExactInteger = (uint64_t{1} << 53) - 1;
constexpr double kMinCpuPercent = 1;
constexpr double kMaxCpuPercent = 102400;  // 1024 processors

template <typename Content>
struct FieldSpec {
  std::string_view name;
  // Fields with the same slot are two spellings of one thing and must not stand side by side.
  std::string_view slot;
  void (*read)(FieldReader&, const JsonValue&, const std::string& pointer, Content&);
};

using S = SettingsContent;
using P = PermissionsContent;

template <auto Member, typename Content>
void Plain(FieldReader& reader, const JsonValue& value, const std::string& pointer, Content& content) {
  reader.Read(value, pointer, content.*Member);
}

template <auto Member>
void Word(FieldReader& reader, const JsonValue& value, const std::string& pointer, S& content) {
  reader.ReadEnum(value, pointer, content.*Member);
}

void GitFlag(FieldReader& reader, const JsonValue& value, const std::string& pointer, S& content) {
  Field<bool> flag;
  reader.Read(value, pointer, flag);
  if (flag)
    content.git_access = Sourced<GitAccess>{flag->value ? GitAccess::kFull : GitAccess::kNone, flag->origin};
}

void WritePaths(FieldReader& reader, const JsonValue& value, const std::string& pointer, P& content) {
  reader.ReadAbsolutePaths(value, pointer, content.write_paths);
}

template <typename Content, size_t N>
const FieldSpec<Content>* FindSpec(const FieldSpec<Content> (&specs)[N], std::string_view name) {
  const auto found =
      std::find_if(std::begin(specs), std::end(specs), [&](const auto& spec) { return spec.name == name; });
  return found == std::end(specs) ? nullptr : found;
}

template <typename Content, size_t N>
std::vector<std::string_view> NamesIn(const FieldSpec<Content> (&specs)[N]) {
  std::vector<std::string_view> names;
  for (const auto& spec : specs) names.push_back(spec.name);
  return names;
}

// The other spelling of `spec` in the same object, if both are there.
template <typename Content, size_t N>
std::string_view OtherSpelling(const FieldSpec<Content> (&specs)[N], const FieldSpec<Content>& spec,
                               const JsonValue& object) {
  for (const auto& other : specs) {
    if (&other == &spec) return {};
    if (other.slot == spec.slot && object.Find(other.name) != nullptr) return other.name;
  }
  return {};
}

bool RefuseBothSpellings(FieldReader& reader, std::string_view name, std::string_view other,
                         const std::string& pointer) {
  if (other.empty()) return false;
  reader.Fail(pointer,
              Quoted(name) + " and " + Quoted(other) + " are two names of one setting, and both are given.",
              "Keep one of them.");
  return true;
}

template <typename Content, size_t N>
void ReadObject(const FieldSpec<Content> (&specs)[N], FieldReader& reader, const JsonValue& object,
                const std::string& pointer, std::span<const std::string_view> skip, Content& content) {
  if (!reader.ExpectObject(object, pointer)) return;
  for (const JsonMember& member : object.members) {
    if (std::find(skip.begin(), skip.end(), member.key) != skip.end()) continue;
    const FieldSpec<Content>* spec = FindSpec(specs, member.key);
    if (spec == nullptr) {
      reader.UnknownKey(member.key, pointer, NamesIn(specs));
      continue;
    }
    const std::string at = AppendPointer(pointer, member.key);
    if (RefuseBothSpellings(reader, member.key, OtherSpelling(specs, *spec, object), at)) continue;
    spec->read(reader, member.value, at, content);
  }
}

constexpr FieldSpec<S> kSystemPaths[] = {
    {"executable", "executable", Plain<&S::executable, S>},
    {"read_only", "read_only", Plain<&S::read_only, S>},
    {"read_write", "read_write", Plain<&S::read_write, S>},
};

constexpr FieldSpec<S> kLimits[] = {
    {"processes", "processes",
     [](FieldReader& reader, const JsonValue& value, const std::string& pointer, S& content) {
       reader.ReadInteger(value, pointer, 1, kMaxProcesses, content.max_processes);
     }},
    {"memory_bytes", "memory_bytes",
     [](FieldReader& reader, const JsonValue& value, const std::string& pointer, S& content) {
       reader.ReadInteger(value, pointer, kMinMemory, kMaxExactInteger, content.max_memory_bytes);
     }},
    {"cpu_percent", "cpu_percent",
     [](FieldReader& reader, const JsonValue& value, const std::string& pointer, S& content) {
       reader.ReadNumber(value, pointer, kMinCpuPercent, kMaxCpuPercent, content.max_cpu_percent);
     }},
};

constexpr FieldSpec<S> kSettings[] = {
    {"enabled", "enabled", Plain<&S::enabled, S>},
    {"apply_to", "apply_to", Word<&S::apply_to>},
    {"profile", "profile", Word<&S::profile>},
    {"system_paths", "system_paths",
     [](FieldReader& reader, const JsonValue& value, const std::string& pointer, S& content) {
       ReadObject(kSystemPaths, reader, value, pointer, {}, content);
     }},
    {"additional_executable_paths", "execute", Plain<&S::additional_executable, S>},
    {"additional_read_only_paths", "read", Plain<&S::additional_read_only, S>},
    {"additional_read_write_paths", "write", Plain<&S::additional_read_write, S>},
    {"allow_read", "read", Plain<&S::additional_read_only, S>},
    {"allow_write", "write", Plain<&S::additional_read_write, S>},
    {"write_paths", "write", Plain<&S::additional_read_write, S>},
    {"read_access", "read_access", Word<&S::read_access>},
    {"denied_read_paths", "denied_read_paths", Plain<&S::denied_read, S>},
    {"allow_network", "allow_network", Plain<&S::allow_network, S>},
    {"network_hosts", "network_hosts", Plain<&S::network_hosts, S>},
    {"allow_all_hosts", "allow_all_hosts", Plain<&S::allow_all_hosts, S>},
    {"denied_domains", "denied_domains", Plain<&S::denied_domains, S>},
    {"unix_sockets", "unix_sockets", Plain<&S::unix_sockets, S>},
    {"git_access", "git", Word<&S::git_access>},
    {"allow_git_access", "git", GitFlag},
    {"temp", "temp", Word<&S::temp>},
    {"nested_pty", "nested_pty", Word<&S::nested_pty>},
    {"allowed_env_vars", "allowed_env_vars", Plain<&S::allowed_env_vars, S>},
    {"allow_fs_write_all", "allow_fs_write_all", Plain<&S::allow_fs_write_all, S>},
    {"allow_unsandboxed", "allow_unsandboxed", Plain<&S::allow_unsandboxed, S>},
    {"allow_wide_project", "allow_wide_project", Plain<&S::allow_wide_project, S>},
    {"strict", "strict", Plain<&S::strict, S>},
    {"fail_if_unavailable", "fail_if_unavailable", Plain<&S::fail_if_unavailable, S>},
    {"backend", "backend", Word<&S::backend>},
    {"limits", "limits",
     [](FieldReader& reader, const JsonValue& value, const std::string& pointer, S& content) {
       ReadObject(kLimits, reader, value, pointer, {}, content);
     }},
};

constexpr FieldSpec<P> kPermissions[] = {
    {"network_hosts", "network_hosts", Plain<&P::network_hosts, P>},
    {"allow_all_hosts", "allow_all_hosts", Plain<&P::allow_all_hosts, P>},
    {"allow_git_access", "allow_git_access", Plain<&P::allow_git_access, P>},
    {"write_paths", "write_paths", WritePaths},
    {"allow_fs_write_all", "allow_fs_write_all", Plain<&P::allow_fs_write_all, P>},
    {"allow_unsandboxed", "allow_unsandboxed", Plain<&P::allow_unsandboxed, P>},
};

template <typename Content, size_t N>
void ReadNamed(const FieldSpec<Content> (&specs)[N], FieldReader& reader, std::string_view name,
               const JsonValue& value, const JsonValue& siblings, const std::string& pointer,
               Content& content) {
  if (const FieldSpec<Content>* spec = FindSpec(specs, name)) {
    if (RefuseBothSpellings(reader, name, OtherSpelling(specs, *spec, siblings), pointer)) return;
    spec->read(reader, value, pointer, content);
    return;
  }
  const std::string_view nearest = NearestWord(name, NamesIn(specs));
  reader.Fail(pointer, "There is no setting " + Quoted(name) + " here.",
              nearest.empty() ? "Remove it." : "Did you mean " + Quoted(nearest) + "?");
}

}  // namespace

std::span<const std::string_view> SettingsKeys() {
  static const std::vector<std::string_view> names = NamesIn(kSettings);
  return names;
}

std::span<const std::string_view> PermissionsKeys() {
  static const std::vector<std::string_view> names = NamesIn(kPermissions);
  return names;
}

void ReadSettings(FieldReader& reader, const JsonValue& object, const std::string& pointer,
                  std::span<const std::string_view> skip, SettingsContent& content) {
  ReadObject(kSettings, reader, object, pointer, skip, content);
}

void ReadPermissions(FieldReader& reader, const JsonValue& object, const std::string& pointer,
                     PermissionsContent& content) {
  ReadObject(kPermissions, reader, object, pointer, {}, content);
}

void ReadSettingsField(FieldReader& reader, std::string_view dotted_name, const JsonValue& value,
                       const JsonValue& siblings, const std::string& pointer, SettingsContent& content) {
  const size_t dot = dotted_name.find('.');
  const std::string_view head = dotted_name.substr(0, dot);
  if (dot != std::string_view::npos) {
    const std::string_view rest = dotted_name.substr(dot + 1);
    if (head == "system_paths") return ReadNamed(kSystemPaths, reader, rest, value, {}, pointer, content);
    if (head == "limits") return ReadNamed(kLimits, reader, rest, value, {}, pointer, content);
  }
  ReadNamed(kSettings, reader, dotted_name, value, siblings, pointer, content);
}

void ReadPermissionsField(FieldReader& reader, std::string_view name, const JsonValue& value,
                          const std::string& pointer, PermissionsContent& content) {
  ReadNamed(kPermissions, reader, name, value, {}, pointer, content);
}

}  // namespace spty
