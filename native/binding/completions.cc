#include "binding/completions.h"

#include "binding/mailbox.h"

namespace spty {

namespace {

// Plain Node-API with every status looked at, as in NativeSession::Call: in a worker that is being terminated
// the C++ wrappers would end the whole process.
void Call(napi_env env, napi_ref callback, const std::string& result) {
  napi_handle_scope scope = nullptr;
  if (napi_open_handle_scope(env, &scope) != napi_ok) return;
  napi_value function = nullptr;
  napi_value receiver = nullptr;
  napi_value text = nullptr;
  if (napi_get_reference_value(env, callback, &function) == napi_ok && function != nullptr &&
      napi_get_undefined(env, &receiver) == napi_ok &&
      napi_create_string_utf8(env, result.data(), result.size(), &text) == napi_ok &&
      napi_call_function(env, receiver, function, 1, &text, nullptr) != napi_ok) {
    bool pending = false;
    napi_value error = nullptr;
    // The callback only settles a promise; what it throws would be a bug of ours.
    if (napi_is_exception_pending(env, &pending) == napi_ok && pending &&
        napi_get_and_clear_last_exception(env, &error) == napi_ok)
      napi_fatal_exception(env, error);
  }
  napi_close_handle_scope(env, scope);
}

}  // namespace

uint64_t Completions::Expect(const Napi::Function& callback) {
  const uint64_t id = next_++;
  callbacks_.emplace(id, Napi::Persistent(callback));
  mailbox_->Ref();
  return id;
}

void Completions::Forget(uint64_t id) {
  if (callbacks_.erase(id) > 0) mailbox_->Unref();
}

void Completions::Deliver(Napi::Env env) {
  std::vector<std::pair<uint64_t, std::string>> results;
  {
    std::lock_guard lock(mutex_);
    if (mailbox_ == nullptr) return;
    results.swap(results_);
  }
  for (auto& [id, result] : results) {
    auto found = callbacks_.find(id);
    if (found == callbacks_.end()) continue;
    const Napi::FunctionReference callback = std::move(found->second);
    callbacks_.erase(found);
    mailbox_->Unref();
    Call(env, callback, result);
  }
}

void Completions::Close() {
  std::lock_guard lock(mutex_);
  mailbox_ = nullptr;
  callbacks_.clear();
}

void Completions::Post(uint64_t id, std::string result) {
  std::lock_guard lock(mutex_);
  if (mailbox_ == nullptr) return;
  results_.emplace_back(id, std::move(result));
  mailbox_->Post(nullptr);
}

}  // namespace spty
