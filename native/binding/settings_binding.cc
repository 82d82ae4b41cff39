#include "binding/settings_binding.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/result.h"
#include "binding/fields.h"
#include "policy/explain.h"
#include "policy/resolve_policy.h"
#include "settings/defaults.h"
#include "settings/json_writer.h"
#include "settings/jsonc.h"
#include "settings/layers.h"

extern char** environ;

namespace spty {
namespace {

constexpr napi_type_tag kSettingsTag = {0x6f1d0f6c2f0a4b51, 0x9a27d2c6f1f34e08};
constexpr napi_type_tag kPolicyTag = {0x3b8e5a1c77d94c02, 0x8d4be95a20c1f67d};

// A plain object that owns a shared value. The tag makes a handle of the wrong kind an error instead of a
// crash.
template <typename T>
Napi::Object Wrap(Napi::Env env, const napi_type_tag& tag, std::shared_ptr<const T> value) {
  using Holder = std::shared_ptr<const T>;
  Napi::Object handle = Napi::Object::New(env);
  auto* holder = new Holder(std::move(value));
  const auto finalize = [](napi_env, void* data, void*) { delete static_cast<Holder*>(data); };
  if (napi_wrap(env, handle, holder, finalize, nullptr, nullptr) != napi_ok) delete holder;
  napi_type_tag_object(env, handle, &tag);
  return handle;
}

template <typename T>
std::shared_ptr<const T> Unwrap(Napi::Value value, const napi_type_tag& tag) {
  if (!value.IsObject()) return nullptr;
  bool matches = false;
  void* data = nullptr;
  if (napi_check_object_type_tag(value.Env(), value, &tag, &matches) != napi_ok || !matches) return nullptr;
  if (napi_unwrap(value.Env(), value, &data) != napi_ok) return nullptr;
  return *static_cast<std::shared_ptr<const T>*>(data);
}

// What is no string is not a word that anybody knows.
std::string TextArgument(const Napi::Value& value) {
  return value.IsString() ? value.As<Napi::String>().Utf8Value() : std::string();
}

std::string ErrorsToJson(const std::vector<SettingsError>& errors) {
  JsonWriter out;
  out.BeginArray();
  for (const SettingsError& error : errors) {
    out.BeginObject().Key("code").String(error.code).Key("layer").String(LayerName(error.at.layer));
    out.Key("pointer").String(error.at.pointer).Key("message").String(error.message);
    if (!error.suggestion.empty()) out.Key("suggestion").String(error.suggestion);
    if (!error.path.empty()) out.Key("path").String(error.path);
    if (error.err != 0) {
      out.Key("systemCode").String(ErrnoName(error.err));
      out.Key("errno").Integer(static_cast<uint64_t>(error.err));
    }
    out.EndObject();
  }
  out.EndArray();
  return out.Take();
}

Napi::Object Failed(Napi::Env env, const std::vector<SettingsError>& errors) {
  Napi::Object result = Napi::Object::New(env);
  result.Set("errors", ErrorsToJson(errors));
  return result;
}

DocumentShape ReadShape(Fields& fields) {
  const std::string name = fields.String("shape");
  if (name == "editor") return DocumentShape::kEditor;
  if (name == "sandbox") return DocumentShape::kSettings;
  fields.Expect(name == "auto", "shape", "'auto', 'editor' or 'sandbox'");
  return DocumentShape::kAuto;
}

// A document, or nothing. False with a TypeError pending.
bool ReadLayer(const Napi::Value& value, std::optional<LayerText>* layer) {
  if (value.IsUndefined()) return true;
  Fields fields(value);
  const DocumentShape shape = ReadShape(fields);
  *layer = LayerText{fields.String("text"), fields.String("pointer"), shape};
  return fields.ok();
}

// Permissions have one shape, and say so.
bool ReadPermissions(const Napi::Value& value, std::optional<LayerText>* layer) {
  if (value.IsUndefined()) return true;
  Fields fields(value);
  *layer = LayerText{fields.String("text"), fields.String("pointer"), DocumentShape::kAuto};
  fields.Expect(fields.String("shape") == "permissions", "shape", "'permissions'");
  return fields.ok();
}

// The same document as plain JSON, once it was found to be in order.
Napi::Object Plain(Napi::Env env, const std::string& text) {
  Napi::Object result = Napi::Object::New(env);
  // It was read in this way a moment ago, so that there is a value.
  result.Set("plain", BlankOutJsonc(text).value_or(text));
  return result;
}

// parse({text, pointer, shape}) -> {plain} or {errors}
Napi::Value Parse(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  Fields fields(info[0]);
  const Origin root{Layer::kUser, fields.String("pointer")};
  const std::string text = fields.String("text");
  if (fields.ok() && fields.String("shape") == "permissions") {
    const auto parsed = ParsePermissions(text, root);
    return parsed.ok() ? Plain(env, text) : Failed(env, parsed.errors());
  }
  const DocumentShape shape = ReadShape(fields);
  if (!fields.ok()) return env.Undefined();
  const auto parsed = ParseSettings(text, root, shape);
  return parsed.ok() ? Plain(env, text) : Failed(env, parsed.errors());
}

// resolveSettings({user, project, permissions, platform, projectTrusted}) -> {handle, refused} or {errors}
Napi::Value ResolveSettingsEntry(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  Fields fields(info[0]);
  LayersInput input;
  input.platform = fields.Enum<Platform>("platform");
  input.project_trusted = fields.Bool("projectTrusted");
  if (!fields.ok() || !ReadLayer(fields.Get("user"), &input.user) ||
      !ReadLayer(fields.Get("project"), &input.project) ||
      !ReadPermissions(fields.Get("permissions"), &input.permissions)) {
    return env.Undefined();
  }
  SettingsResult<ResolvedSettings> resolved = ResolveSettings(input);
  if (!resolved.ok()) return Failed(env, resolved.errors());
  Napi::Object result = Napi::Object::New(env);
  result.Set("refused", RefusalsToJson(resolved.value().refused));
  auto shared = std::make_shared<const ResolvedSettings>(std::move(resolved).value());
  result.Set("handle", Wrap<ResolvedSettings>(env, kSettingsTag, std::move(shared)));
  return result;
}

// describeSettings(handle, kind) -> JSON. Apart from resolveSettings: a spawn does not need it.
Napi::Value DescribeSettings(const Napi::CallbackInfo& info) {
  const auto settings = Unwrap<ResolvedSettings>(info[0], kSettingsTag);
  if (settings == nullptr) {
    Napi::TypeError::New(info.Env(), "settings must come from resolveSettings()")
        .ThrowAsJavaScriptException();
    return info.Env().Undefined();
  }
  const std::optional<SessionKind> kind = EnumFromName<SessionKind>(TextArgument(info[1]));
  if (!kind) {
    Napi::TypeError::New(info.Env(), "kind must be 'terminal' or 'tool'").ThrowAsJavaScriptException();
    return info.Env().Undefined();
  }
  return Napi::String::New(info.Env(), SettingsToJson(settings->ForKind(*kind)));
}

// [name, value, name, value, ...]
std::vector<EnvVar> ReadEnv(Fields& fields, const char* name) {
  const std::vector<std::string> list = fields.ByteStrings(name);
  fields.Expect(list.size() % 2 == 0, name, "pairs of a name and a value");
  std::vector<EnvVar> vars;
  for (size_t i = 0; i + 1 < list.size(); i += 2) vars.push_back({list[i], list[i + 1]});
  return vars;
}

// The environment of this process, byte for byte. Somebody may have started it with entries that are no
// variables, without a name or without a '='; nobody can ask for them, and they are not handed on.
std::vector<EnvVar> HostEnv(const std::vector<std::string>& without) {
  std::vector<EnvVar> vars;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    const std::string_view name = text.substr(0, equals);
    if (std::find(without.begin(), without.end(), name) != without.end()) continue;
    vars.push_back({std::string(name), std::string(text.substr(equals + 1))});
  }
  return vars;
}

// resolvePolicy({settings: handle, kind, projectDir, ...}) -> {handle} or {errors}
Napi::Value ResolvePolicyEntry(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  Fields fields(info[0]);
  const auto settings = Unwrap<ResolvedSettings>(fields.Get("settings"), kSettingsTag);
  if (settings == nullptr) {
    Napi::TypeError::New(env, "settings must come from resolveSettings()").ThrowAsJavaScriptException();
    return env.Undefined();
  }
  PolicyInput input;
  input.kind = fields.Enum<SessionKind>("kind");
  input.project_dir = fields.String("projectDir");
  input.cwd = fields.String("cwd");
  input.home = fields.String("home");
  input.term = fields.String("term");
  input.temp_dir = fields.String("tempDir");
  input.repositories = fields.Strings("repositories");
  input.unsandboxed = fields.Bool("unsandboxed");
  input.is_root = geteuid() == 0;
  input.env = fields.Has("env") ? ReadEnv(fields, "env") : HostEnv(fields.Strings("hostEnvWithout"));
  if (fields.Has("extraEnv")) input.extra_env = ReadEnv(fields, "extraEnv");
  if (!fields.ok()) return env.Undefined();
  input.settings = {settings, &settings->ForKind(input.kind)};
  SettingsResult<std::shared_ptr<const Policy>> policy = ResolvePolicy(std::move(input));
  if (!policy.ok()) return Failed(env, policy.errors());
  Napi::Object result = Napi::Object::New(env);
  result.Set("handle", Wrap<Policy>(env, kPolicyTag, policy.value()));
  return result;
}

std::shared_ptr<const Policy> PolicyArgument(const Napi::CallbackInfo& info) {
  std::shared_ptr<const Policy> policy = UnwrapPolicy(info[0]);
  if (policy == nullptr) {
    Napi::TypeError::New(info.Env(), "policy must come from resolvePolicy() and not be disposed")
        .ThrowAsJavaScriptException();
  }
  return policy;
}

// releasePolicy(handle): closes its descriptors now instead of when the handle is collected, which may be
// thousands of policies later. A session that has taken the policy keeps it.
Napi::Value ReleasePolicy(const Napi::CallbackInfo& info) {
  if (PolicyArgument(info) == nullptr) return info.Env().Undefined();
  void* data = nullptr;
  if (napi_unwrap(info.Env(), info[0], &data) == napi_ok)
    static_cast<std::shared_ptr<const Policy>*>(data)->reset();
  return info.Env().Undefined();
}

// describePolicy(handle) -> JSON
Napi::Value DescribePolicy(const Napi::CallbackInfo& info) {
  const auto policy = PolicyArgument(info);
  if (policy == nullptr) return info.Env().Undefined();
  return Napi::String::New(info.Env(), PolicyToJson(*policy));
}

// policyEnvironment(handle) -> [Buffer "NAME=value", ...]
Napi::Value PolicyEnvironment(const Napi::CallbackInfo& info) {
  const auto policy = PolicyArgument(info);
  if (policy == nullptr) return info.Env().Undefined();
  Napi::Array list = Napi::Array::New(info.Env());
  for (const EnvVar& var : policy->environment()) {
    const std::string entry = var.name + "=" + var.value;
    list.Set(list.Length(), Napi::Buffer<char>::Copy(info.Env(), entry.data(), entry.size()));
  }
  return list;
}

// explain(handle, access, target) -> JSON
Napi::Value ExplainEntry(const Napi::CallbackInfo& info) {
  const auto policy = PolicyArgument(info);
  if (policy == nullptr) return info.Env().Undefined();
  const std::optional<Access> access = EnumFromName<Access>(TextArgument(info[1]));
  if (!access) {
    Napi::TypeError::New(info.Env(), "access must be 'read', 'write', 'execute' or 'connect'")
        .ThrowAsJavaScriptException();
    return info.Env().Undefined();
  }
  if (!info[2].IsString()) {
    Napi::TypeError::New(info.Env(), "target must be a string").ThrowAsJavaScriptException();
    return info.Env().Undefined();
  }
  return Napi::String::New(info.Env(), ExplanationToJson(Explain(*policy, *access, TextArgument(info[2]))));
}

}  // namespace

std::shared_ptr<const Policy> UnwrapPolicy(Napi::Value value) { return Unwrap<Policy>(value, kPolicyTag); }

void RegisterSettings(Napi::Env env, Napi::Object exports) {
  exports.Set("parse", Napi::Function::New<Parse>(env, "parse"));
  exports.Set("resolveSettings", Napi::Function::New<ResolveSettingsEntry>(env, "resolveSettings"));
  exports.Set("describeSettings", Napi::Function::New<DescribeSettings>(env, "describeSettings"));
  exports.Set("resolvePolicy", Napi::Function::New<ResolvePolicyEntry>(env, "resolvePolicy"));
  exports.Set("releasePolicy", Napi::Function::New<ReleasePolicy>(env, "releasePolicy"));
  exports.Set("describePolicy", Napi::Function::New<DescribePolicy>(env, "describePolicy"));
  exports.Set("policyEnvironment", Napi::Function::New<PolicyEnvironment>(env, "policyEnvironment"));
  exports.Set("explain", Napi::Function::New<ExplainEntry>(env, "explain"));
}

}  // namespace spty
