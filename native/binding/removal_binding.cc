#include "binding/removal_binding.h"

#include "binding/addon.h"
#include "binding/failure.h"
#include "session/background_removal.h"
#include "track/remove_tree.h"

namespace spty {

Napi::Value RemoveOwnTreeNow(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsString()) {
    Napi::TypeError::New(env, "path must be a string").ThrowAsJavaScriptException();
    return env.Undefined();
  }
  return Napi::Number::New(env, RemoveOwnTree(info[0].As<Napi::String>().Utf8Value().c_str()));
}

void RemoveOwnTreeInBackground(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsString() || !info[1].IsFunction()) {
    Napi::TypeError::New(env, "path must be a string, callback a function").ThrowAsJavaScriptException();
    return;
  }
  auto* addon = env.GetInstanceData<Addon>();
  if (!addon->Ready()) return;
  const uint64_t id = addon->completions().Expect(info[1].As<Napi::Function>());
  const auto done = [completions = addon->completions().shared_from_this(), id](int err) {
    completions->Post(id, std::to_string(err));
  };
  const auto remove = [path = info[0].As<Napi::String>().Utf8Value()] { return RemoveOwnTree(path.c_str()); };
  if (auto started = RunRemoval(remove, done); !started.ok()) {
    addon->completions().Forget(id);
    ToJs(env, started.error()).ThrowAsJavaScriptException();
  }
}

}  // namespace spty
