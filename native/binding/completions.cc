#include "binding/completions.h"

#include "binding/mailbox.h"

namespace spty {

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
    Napi::HandleScope scope(env);
    callback.Call({Napi::String::New(env, result)});
    // The callback only settles a promise; what it throws would be a bug of ours.
    if (env.IsExceptionPending()) napi_fatal_exception(env, env.GetAndClearPendingException().Value());
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
