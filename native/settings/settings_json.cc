// Settings as JSON: the values in the shape of a settings document, and beside them where each came from.
#include "settings/json_writer.h"
#include "settings/settings.h"

namespace spty {
namespace {

void WriteValue(JsonWriter& out, bool value) { out.Bool(value); }
void WriteValue(JsonWriter& out, uint64_t value) { out.Integer(value); }
void WriteValue(JsonWriter& out, double value) { out.Number(value); }
void WriteValue(JsonWriter& out, const std::string& value) { out.String(value); }
void WriteValue(JsonWriter& out, const HostPattern& value) { out.String(value.ToString()); }
void WriteValue(JsonWriter& out, const EnvPattern& value) { out.String(value.ToString()); }
template <typename E>
requires std::is_enum_v<E>
void WriteValue(JsonWriter& out, E value) { out.String(NameOf(value)); }

void WriteOrigin(JsonWriter& out, const Origin& origin) {
  out.BeginObject()
      .Key("layer")
      .String(LayerName(origin.layer))
      .Key("pointer")
      .String(origin.pointer)
      .EndObject();
}

// The same walk twice: once for the values, once for the origins.
class ValueVisitor {
 public:
  explicit ValueVisitor(JsonWriter& out) : out_(out) {}
  template <typename T>
  void operator()(std::string_view name, const Sourced<T>& field) {
    out_.Key(name);
    WriteValue(out_, field.value);
  }
  template <typename T>
  void operator()(std::string_view name, const SourcedList<T>& list) {
    out_.Key(name).BeginArray();
    for (const auto& item : list.items) WriteValue(out_, item.value);
    out_.EndArray();
  }
  template <typename T>
  void operator()(std::string_view name, const std::optional<Sourced<T>>& field) {
    if (field) (*this)(name, *field);
  }

 private:
  JsonWriter& out_;
};

class OriginVisitor {
 public:
  explicit OriginVisitor(JsonWriter& out) : out_(out) {}
  template <typename T>
  void operator()(std::string_view name, const Sourced<T>& field) {
    out_.Key(name);
    WriteOrigin(out_, field.origin);
  }
  template <typename T>
  void operator()(std::string_view name, const SourcedList<T>& list) {
    out_.Key(name);
    WriteOrigin(out_, list.origin);
  }
  template <typename T>
  void operator()(std::string_view name, const std::optional<Sourced<T>>& field) {
    if (field) (*this)(name, *field);
  }

 private:
  JsonWriter& out_;
};

template <typename Visitor>
void Visit(const Settings& s, JsonWriter& out, Visitor visit) {
  out.BeginObject();
  visit("enabled", s.enabled);
  visit("apply_to", s.apply_to);
  visit("profile", s.profile);
  out.Key("system_paths").BeginObject();
  visit("executable", s.executable);
  visit("read_only", s.read_only);
  visit("read_write", s.read_write);
  out.EndObject();
  visit("additional_executable_paths", s.additional_executable);
  visit("additional_read_only_paths", s.additional_read_only);
  visit("additional_read_write_paths", s.additional_read_write);
  visit("read_access", s.read_access);
  visit("denied_read_paths", s.denied_read);
  visit("allow_network", s.network_all);
  visit("network_hosts", s.network_hosts);
  visit("denied_domains", s.denied_domains);
  visit("unix_sockets", s.unix_sockets);
  visit("git_access", s.git_access);
  visit("temp", s.temp);
  visit("nested_pty", s.nested_pty);
  visit("allowed_env_vars", s.allowed_env_vars);
  visit("allow_fs_write_all", s.allow_fs_write_all);
  visit("allow_unsandboxed", s.allow_unsandboxed);
  visit("allow_wide_project", s.allow_wide_project);
  visit("strict", s.strict);
  visit("fail_if_unavailable", s.fail_if_unavailable);
  visit("backend", s.backend);
  out.Key("limits").BeginObject();
  visit("processes", s.max_processes);
  visit("memory_bytes", s.max_memory_bytes);
  visit("cpu_percent", s.max_cpu_percent);
  out.EndObject().EndObject();
}

}  // namespace

std::string SettingsToJson(const Settings& settings) {
  JsonWriter out;
  out.BeginObject().Key("values");
  Visit(settings, out, ValueVisitor(out));
  out.Key("origins");
  Visit(settings, out, OriginVisitor(out));
  out.EndObject();
  return out.Take();
}

std::string RefusalsToJson(const std::vector<Refusal>& refused) {
  JsonWriter out;
  out.BeginArray();
  for (const Refusal& refusal : refused) {
    out.BeginObject().Key("layer").String(LayerName(refusal.at.layer));
    out.Key("pointer").String(refusal.at.pointer).Key("message").String(refusal.message).EndObject();
  }
  out.EndArray();
  return out.Take();
}

}  // namespace spty
