#include "binding/read_request.h"

#include "binding/settings_binding.h"

namespace spty {
namespace {

// Reads fields one after the other; after the first wrong one the rest are skipped and a TypeError is
// pending.
class Fields {
 public:
  explicit Fields(Napi::Object object) : object_(object) {}

  bool ok() const { return ok_; }

  std::string String(const char* name) {
    Napi::Value value = object_.Get(name);
    if (!Expect(value.IsString(), name, "a string")) return "";
    return value.As<Napi::String>().Utf8Value();
  }

  bool Bool(const char* name) {
    Napi::Value value = object_.Get(name);
    return Expect(value.IsBoolean(), name, "a boolean") && value.As<Napi::Boolean>().Value();
  }

  uint32_t Number(const char* name) {
    Napi::Value value = object_.Get(name);
    return Expect(value.IsNumber(), name, "a number") ? value.As<Napi::Number>().Uint32Value() : 0;
  }

  uint16_t Cells(const char* name) { return static_cast<uint16_t>(Number(name)); }

  std::vector<std::string> Strings(const char* name) {
    std::vector<std::string> strings;
    Napi::Value value = object_.Get(name);
    if (!Expect(value.IsArray(), name, "an array of strings")) return strings;
    auto array = value.As<Napi::Array>();
    strings.reserve(array.Length());
    for (uint32_t i = 0; i < array.Length(); ++i) {
      Napi::Value element = array.Get(i);
      if (!Expect(element.IsString(), name, "an array of strings")) return strings;
      strings.push_back(element.As<Napi::String>().Utf8Value());
    }
    return strings;
  }

  // One string with a NUL byte behind each element.
  std::vector<std::string> Terminated(const char* name) {
    std::vector<std::string> strings;
    const std::string all = String(name);
    if (!Expect(all.empty() || all.back() == '\0', name, "strings that end with a NUL byte")) return strings;
    for (size_t start = 0, end; (end = all.find('\0', start)) != std::string::npos; start = end + 1) {
      strings.push_back(all.substr(start, end - start));
    }
    return strings;
  }

  bool Has(const char* name) { return object_.Get(name).IsNumber(); }

 private:
  bool Expect(bool condition, const char* name, const char* type) {
    if (!condition && ok_) {
      ok_ = false;
      std::string message = std::string(name) + " must be " + type;
      Napi::TypeError::New(object_.Env(), message).ThrowAsJavaScriptException();
    }
    return condition && ok_;
  }

  Napi::Object object_;
  bool ok_ = true;
};

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
  Fields fields(value.As<Napi::Object>());
  SpawnRequest request;
  request.file = fields.String("file");
  request.args = fields.Strings("args");
  request.env = fields.Terminated("env");
  request.cwd = fields.String("cwd");
  request.size = ReadSize(&fields);
  request.utf8 = fields.Bool("utf8");
  request.keeper_path = fields.String("keeperPath");
  request.wait_for_exec = fields.Bool("waitForExec");
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
