#include "binding/failure.h"

namespace spty {

Napi::Error ToJs(Napi::Env env, const Error& error) {
  Napi::Error js = Napi::Error::New(env, Describe(error));
  Napi::Object object = js.Value();
  object.Set("code", Napi::String::New(env, ErrnoName(error.err)));
  object.Set("errno", Napi::Number::New(env, -error.err));
  object.Set("stage", Napi::String::New(env, StageName(error.stage)));
  if (!error.subject.empty()) object.Set("path", Napi::String::New(env, error.subject));
  return js;
}

}  // namespace spty
