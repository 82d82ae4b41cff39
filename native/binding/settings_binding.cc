#include "binding/settings_binding.h"

#include <unistd.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "policy/explain.h"
#include "policy/resolve_policy.h"
#include "settings/defaults.h"
#include "settings/json_writer.h"
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

std::string Text(Napi::Object object, const char* key) {
  const Napi::Value value = object.Get(key);
  return value.IsString() ? value.As<Napi::String>().Utf8Value() : std::string();
}

bool Flag(Napi::Object object, const char* key) {
  const Napi::Value value = object.Get(key);
  return value.IsBoolean() && value.As<Napi::Boolean>().Value();
}

// A string, or a Buffer with the bytes as they are.
std::string Bytes(Napi::Value value) {
  if (value.IsBuffer()) {
    auto buffer = value.As<Napi::Buffer<char>>();
    return {buffer.Data(), buffer.Length()};
  }
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
    if (error.err != 0)
      out.Key("systemCode")
          .String(ErrnoName(error.err))
          .Key("errno")
          .Integer(static_cast<uint64_t>(error.err));
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

DocumentShape ShapeFrom(const std::string& name) {
  if (name == "editor") return DocumentShape::kEditor;
  return name == "sandbox" ? DocumentShape::kSettings : DocumentShape::kAuto;
}

std::optional<LayerText> LayerFrom(Napi::Object options, const char* key) {
  const Napi::Value value = options.Get(key);
  if (!value.IsObject()) return std::nullopt;
  auto layer = value.As<Napi::Object>();
  return LayerText{Text(layer, "text"), Text(layer, "pointer"), ShapeFrom(Text(layer, "shape"))};
}

// parse({text, pointer, shape}) -> {} or {errors}
Napi::Value Parse(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  auto document = info[0].As<Napi::Object>();
  const Origin root{Layer::kUser, Text(document, "pointer")};
  const std::string shape = Text(document, "shape");
  if (shape == "permissions") {
    const auto parsed = ParsePermissions(Text(document, "text"), root);
    return parsed.ok() ? Napi::Object::New(env) : Failed(env, parsed.errors());
  }
  const auto parsed = ParseSettings(Text(document, "text"), root, ShapeFrom(shape));
  return parsed.ok() ? Napi::Object::New(env) : Failed(env, parsed.errors());
}

// resolveSettings({user, project, permissions, platform, projectTrusted}) -> {handle, settings, refused} or
// {errors}
Napi::Value ResolveSettingsEntry(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  auto options = info[0].As<Napi::Object>();
  LayersInput input;
  input.user = LayerFrom(options, "user");
  input.project = LayerFrom(options, "project");
  input.permissions = LayerFrom(options, "permissions");
  input.platform = EnumFromName<Platform>(Text(options, "platform")).value_or(Platform::kLinux);
  input.project_trusted = Flag(options, "projectTrusted");
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
  const SessionKind kind = EnumFromName<SessionKind>(Bytes(info[1])).value_or(SessionKind::kTerminal);
  return Napi::String::New(info.Env(), SettingsToJson(settings->ForKind(kind)));
}

// [name, value, name, value, ...]; absent: the environment of this process, byte for byte.
std::vector<EnvVar> EnvFrom(Napi::Value value) {
  std::vector<EnvVar> vars;
  if (value.IsArray()) {
    auto list = value.As<Napi::Array>();
    for (uint32_t i = 0; i + 1 < list.Length(); i += 2)
      vars.push_back({Bytes(list.Get(i)), Bytes(list.Get(i + 1))});
    return vars;
  }
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=', 1);
    if (equals == std::string_view::npos) continue;
    vars.push_back({std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))});
  }
  return vars;
}

std::vector<std::string> StringsFrom(Napi::Value value) {
  std::vector<std::string> strings;
  if (!value.IsArray()) return strings;
  auto list = value.As<Napi::Array>();
  for (uint32_t i = 0; i < list.Length(); ++i) strings.push_back(Bytes(list.Get(i)));
  return strings;
}

// resolvePolicy({settings: handle, kind, projectDir, ...}) -> {handle, environment} or {errors}
Napi::Value ResolvePolicyEntry(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  auto options = info[0].As<Napi::Object>();
  const auto settings = Unwrap<ResolvedSettings>(options.Get("settings"), kSettingsTag);
  if (settings == nullptr) {
    Napi::TypeError::New(env, "settings must come from resolveSettings()").ThrowAsJavaScriptException();
    return env.Undefined();
  }
  PolicyInput input;
  input.kind = EnumFromName<SessionKind>(Text(options, "kind")).value_or(SessionKind::kTerminal);
  input.settings = {settings, &settings->ForKind(input.kind)};
  input.project_dir = Text(options, "projectDir");
  input.cwd = Text(options, "cwd");
  input.home = Text(options, "home");
  input.term = Text(options, "term");
  input.temp_dir = Text(options, "tempDir");
  input.repositories = StringsFrom(options.Get("repositories"));
  input.unsandboxed = Flag(options, "unsandboxed");
  input.is_root = geteuid() == 0;
  input.env = EnvFrom(options.Get("env"));
  if (options.Get("extraEnv").IsArray()) input.extra_env = EnvFrom(options.Get("extraEnv"));
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
  const std::optional<Access> access = EnumFromName<Access>(Bytes(info[1]));
  if (!access) {
    Napi::TypeError::New(info.Env(), "access must be 'read', 'write', 'execute' or 'connect'")
        .ThrowAsJavaScriptException();
    return info.Env().Undefined();
  }
  return Napi::String::New(info.Env(), ExplanationToJson(Explain(*policy, *access, Bytes(info[2]))));
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
