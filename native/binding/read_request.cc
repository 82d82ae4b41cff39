#include "binding/read_request.h"

#include "binding/fields.h"
#include "binding/settings_binding.h"

namespace spty {
namespace {

WindowSize ReadSize(Fields* fields) {
  WindowSize size;
  size.cols = fields->Cells("cols");
  size.rows = fields->Cells("rows");
  return size;
}

// policy, stdio, tempDir, featureLimits: all optional. False with a TypeError pending.
bool ReadSandbox(Napi::Object object, SpawnRequest* request) {
  const Napi::Value policy = object.Get("policy");
  if (!policy.IsUndefined()) {
    request->policy = UnwrapPolicy(policy);
    // Never on without it: a session that was to be confined must not start unconfined.
    if (request->policy == nullptr) {
      Napi::TypeError::New(object.Env(), "policy must come from resolvePolicy() and not be disposed")
          .ThrowAsJavaScriptException();
      return false;
    }
  }
  const auto flag = [&](const char* name, bool absent) {
    const Napi::Value value = object.Get(name);
    return value.IsBoolean() ? value.As<Napi::Boolean>().Value() : absent;
  };
  request->keep_alive_after_exit = flag("keepAliveAfterExit", false);
  if (const Napi::Value stdio = object.Get("stdio"); stdio.IsArray()) {
    for (uint32_t i = 0; i < request->stdio.size(); ++i) {
      const Napi::Value fd = stdio.As<Napi::Array>().Get(i);
      if (fd.IsNumber()) request->stdio[i] = fd.As<Napi::Number>().Int32Value();
    }
  }
  request->use_cgroup = flag("useCgroup", true);
  const Napi::Value temp_dir = object.Get("tempDir");
  if (temp_dir.IsString()) request->temp_dir = temp_dir.As<Napi::String>().Utf8Value();
  const Napi::Value limits = object.Get("featureLimits");
  if (!limits.IsObject()) return true;
  const Napi::Value abi = limits.As<Napi::Object>().Get("landlockAbi");
  if (abi.IsNumber()) request->feature_limits.landlock_abi = abi.As<Napi::Number>().Int32Value();
  const auto works = [&](const char* name) {
    const Napi::Value value = limits.As<Napi::Object>().Get(name);
    return !value.IsBoolean() || value.As<Napi::Boolean>().Value();
  };
  request->feature_limits.seccomp = works("seccomp");
  request->feature_limits.notify = works("notify");
  return true;
}

}  // namespace

std::optional<SpawnRequest> ReadSpawnRequest(const Napi::Value& value) {
  if (!value.IsObject()) {
    Napi::TypeError::New(value.Env(), "the request must be an object").ThrowAsJavaScriptException();
    return std::nullopt;
  }
  Fields fields(value);
  SpawnRequest request;
  request.file = fields.String("file");
  request.args = fields.Strings("args");
  request.env = fields.Terminated("env");
  request.cwd = fields.String("cwd");
  request.size = ReadSize(&fields);
  request.utf8 = fields.Bool("utf8");
  request.keeper_path = fields.String("keeperPath");
  request.wait_for_exec = fields.Bool("waitForExec");
  request.unless_sure = true;
  if (fields.Has("uid") && fields.Has("gid")) {
    request.ids = SpawnRequest::Ids{fields.Number("uid"), fields.Number("gid")};
  }
  if (!fields.ok() || !ReadSandbox(value.As<Napi::Object>(), &request)) return std::nullopt;
  return request;
}

std::optional<WindowSize> ReadWindowSize(const Napi::Object& object) {
  Fields fields(object);
  WindowSize size = ReadSize(&fields);
  if (!fields.ok()) return std::nullopt;
  return size;
}

}  // namespace spty
