#include "binding/addon.h"

#include <vector>

#include "binding/failure.h"
#include "binding/native_session.h"
#include "binding/read_request.h"
#include "binding/settings_binding.h"
#include "pty/pty_pair.h"

namespace spty {

Napi::Object Addon::Init(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new Addon(env));
  exports.Set("NativeSession", NativeSession::Define(env));
  exports.Set("openPty", Napi::Function::New<&Addon::OpenPty>(env, "openPty"));
  exports.Set("resizePty", Napi::Function::New<&Addon::ResizePty>(env, "resizePty"));
  RegisterSettings(env, exports);
  return exports;
}

bool Addon::Ready() {
  if (pump_ != nullptr) return true;
  auto pump = Pump::Acquire();
  if (!pump.ok()) {
    ToJs(env_, pump.error()).ThrowAsJavaScriptException();
    return false;
  }
  if (!mailbox_.Open(env_)) return false;
  // Hooks run in reverse order: ours, added after the mailbox's own, stops all callbacks before the mailbox
  // goes.
  env_.AddCleanupHook(&Addon::Cleanup, this);
  pump_ = std::move(pump).value();
  return true;
}

namespace {

struct DisposerWork {
  std::shared_ptr<Disposer> disposer;
  napi_async_work work;
};

}  // namespace

bool Addon::RunDisposer() {
  auto* data = new DisposerWork{disposer_, nullptr};
  napi_value name = Napi::String::New(env_, "sandboxed-pty dispose");
  const auto execute = [](napi_env, void* work) { static_cast<DisposerWork*>(work)->disposer->Run(); };
  const auto complete = [](napi_env env, napi_status, void* work) {
    napi_delete_async_work(env, static_cast<DisposerWork*>(work)->work);
    delete static_cast<DisposerWork*>(work);
  };
  if (napi_create_async_work(env_, nullptr, name, execute, complete, data, &data->work) == napi_ok) {
    if (napi_queue_async_work(env_, data->work) == napi_ok) return true;
    napi_delete_async_work(env_, data->work);
  }
  delete data;
  Napi::Error::New(env_, "no thread for ending sessions").ThrowAsJavaScriptException();
  return false;
}

void Addon::Cleanup(Addon* addon) {
  // Before the sessions go: the worker must not tell anybody any more.
  addon->completions_->Close();
  addon->disposer_->Abort();
  std::vector<NativeSession*> sessions(addon->sessions_.begin(), addon->sessions_.end());
  for (NativeSession* session : sessions) session->Release();
  addon->pump_.reset();
}

// openPty({cols, rows, utf8}) -> {master, slave, name}: a pair without a process. The descriptors are the
// caller's.
Napi::Value Addon::OpenPty(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  if (!info[0].IsObject()) {
    Napi::TypeError::New(env, "options must be an object").ThrowAsJavaScriptException();
    return env.Undefined();
  }
  auto options = info[0].As<Napi::Object>();
  std::optional<WindowSize> size = ReadWindowSize(options);
  if (!size) return env.Undefined();
  auto pty = OpenPtyPair(*size, options.Get("utf8").ToBoolean().Value());
  if (!pty.ok()) {
    ToJs(env, pty.error()).ThrowAsJavaScriptException();
    return env.Undefined();
  }
  Napi::Object result = Napi::Object::New(env);
  result.Set("name", Napi::String::New(env, pty.value().slave_name));
  result.Set("master", Napi::Number::New(env, pty.value().master.Take()));
  result.Set("slave", Napi::Number::New(env, pty.value().slave.Take()));
  return result;
}

// resizePty(fd, cols, rows) -> 0 or an errno, for a pair from openPty.
Napi::Value Addon::ResizePty(const Napi::CallbackInfo& info) {
  WindowSize size;
  size.cols = static_cast<uint16_t>(info[1].ToNumber().Uint32Value());
  size.rows = static_cast<uint16_t>(info[2].ToNumber().Uint32Value());
  auto resized = SetWindowSize(info[0].ToNumber().Int32Value(), size);
  return Napi::Number::New(info.Env(), resized.ok() ? 0 : resized.error().err);
}

}  // namespace spty

namespace {

Napi::Object Register(Napi::Env env, Napi::Object exports) { return spty::Addon::Init(env, exports); }

}  // namespace

NODE_API_MODULE(sandboxed_pty, Register)
