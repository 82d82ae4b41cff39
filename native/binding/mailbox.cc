#include "binding/mailbox.h"

#include "binding/addon.h"
#include "binding/native_session.h"

namespace spty {
namespace {

void CallJs(napi_env env, napi_value, void*, void* data) {
  // Without an environment: it is being torn down, and so is the session.
  if (env == nullptr) return;
  if (data == nullptr) {
    Napi::Env(env).GetInstanceData<Addon>()->completions().Deliver(env);
  } else {
    static_cast<NativeSession*>(data)->Deliver();
  }
}

}  // namespace

bool Mailbox::Open(Napi::Env env) {
  env_ = env;
  napi_value name = Napi::String::New(env, "sandboxed-pty");
  napi_status status = napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, nullptr, nullptr,
                                                       nullptr, CallJs, &function_);
  if (status != napi_ok) {
    Napi::Error::New(env).ThrowAsJavaScriptException();
    return false;
  }
  napi_unref_threadsafe_function(env, function_);
  return true;
}

void Mailbox::Post(NativeSession* session) {
  // The queue is unbounded, so the only refusal is napi_closing; sessions are released before that can
  // happen.
  napi_call_threadsafe_function(function_, session, napi_tsfn_nonblocking);
}

void Mailbox::Ref() {
  if (refs_++ == 0) napi_ref_threadsafe_function(env_, function_);
}

void Mailbox::Unref() {
  if (--refs_ == 0) napi_unref_threadsafe_function(env_, function_);
}

}  // namespace spty
