#include "binding/keeper_handle.h"

#include "binding/failure.h"

namespace spty {
namespace {

using Holder = std::optional<PreparedKeeper>;
constexpr napi_type_tag kKeeperTag = {0x51c7f2a09e6b4d83, 0xb1f4087d3ce25a96};

Holder* HolderOf(const Napi::Value& value) {
  if (!value.IsObject()) return nullptr;
  bool matches = false;
  void* data = nullptr;
  if (napi_check_object_type_tag(value.Env(), value, &kKeeperTag, &matches) != napi_ok || !matches)
    return nullptr;
  return napi_unwrap(value.Env(), value, &data) == napi_ok ? static_cast<Holder*>(data) : nullptr;
}

}  // namespace

Napi::Value StartKeeper(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsString() || !info[1].IsString()) {
    Napi::TypeError::New(env, "path and prefix must be strings").ThrowAsJavaScriptException();
    return env.Undefined();
  }
  auto prepared =
      PrepareKeeper(info[0].As<Napi::String>().Utf8Value(), info[1].As<Napi::String>().Utf8Value());
  if (!prepared.ok()) {
    ToJs(env, prepared.error()).ThrowAsJavaScriptException();
    return env.Undefined();
  }
  Napi::Object result = Napi::Object::New(env);
  result.Set("tempDir", Napi::String::New(env, prepared.value().temp_dir));
  Napi::Object handle = Napi::Object::New(env);
  auto* holder = new Holder(std::move(prepared).value());
  const auto finalize = [](napi_env, void* data, void*) { delete static_cast<Holder*>(data); };
  if (napi_wrap(env, handle, holder, finalize, nullptr, nullptr) != napi_ok) delete holder;
  napi_type_tag_object(env, handle, &kKeeperTag);
  result.Set("handle", handle);
  return result;
}

void ReleaseKeeper(const Napi::CallbackInfo& info) {
  if (Holder* holder = HolderOf(info[0]); holder != nullptr) holder->reset();
}

std::optional<PreparedKeeper> TakeKeeper(const Napi::Value& value) {
  Holder* holder = HolderOf(value);
  if (holder == nullptr || !holder->has_value()) return std::nullopt;
  std::optional<PreparedKeeper> taken(std::move(**holder));
  holder->reset();
  return taken;
}

}  // namespace spty
