#include "binding/addon.h"

#include <vector>

#include "binding/failure.h"
#include "binding/host_terminal_binding.h"
#include "binding/keeper_handle.h"
#include "binding/native_session.h"
#include "binding/read_request.h"
#include "binding/removal_binding.h"
#include "binding/settings_binding.h"
#include "binding/stay_loaded.h"
#include "pty/pty_pair.h"

namespace spty {

Napi::Object Addon::Init(Napi::Env env, Napi::Object exports) {
  if (auto stays = StayLoaded(); !stays.ok()) {
    ToJs(env, stays.error()).ThrowAsJavaScriptException();
    return exports;
  }
  env.SetInstanceData(new Addon(env));
  exports.Set("NativeSession", NativeSession::Define(env));
  exports.Set("openPty", Napi::Function::New<&Addon::OpenPty>(env, "openPty"));
  exports.Set("resizePty", Napi::Function::New<&Addon::ResizePty>(env, "resizePty"));
  exports.Set("startKeeper", Napi::Function::New<&StartKeeper>(env, "startKeeper"));
  exports.Set("releaseKeeper", Napi::Function::New<&ReleaseKeeper>(env, "releaseKeeper"));
  exports.Set("removeOwnTree", Napi::Function::New<&RemoveOwnTreeNow>(env, "removeOwnTree"));
  exports.Set("removeOwnTreeInBackground",
              Napi::Function::New<&RemoveOwnTreeInBackground>(env, "removeOwnTreeInBackground"));
  RegisterHostTerminal(env, exports);
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

void Addon::Cleanup(Addon* addon) {
  // Before the sessions go: nobody may be told any more.
  addon->completions_->Close();
  addon->disposer_.Abort();
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
