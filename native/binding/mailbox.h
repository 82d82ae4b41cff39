// From the pump to one JavaScript thread. One per environment (main thread or worker).
#pragma once

#include <napi.h>

namespace spty {

class NativeSession;

class Mailbox {
 public:
  // False with an exception pending.
  bool Open(Napi::Env env);

  // Any thread, only while open: calls session->Deliver() on the JavaScript thread; for null, delivers
  // the addon's completions.
  void Post(NativeSession* session);

  // JavaScript thread: an open session keeps the event loop alive, unless it was unref'ed.
  void Ref();
  void Unref();

 private:
  napi_env env_ = nullptr;
  napi_threadsafe_function function_ = nullptr;
  size_t refs_ = 0;
};

}  // namespace spty
