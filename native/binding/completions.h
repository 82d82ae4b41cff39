// Results of work on other threads, on their way to the JavaScript callbacks that wait for them.
#pragma once

#include <napi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace spty {

class Mailbox;

class Completions : public std::enable_shared_from_this<Completions> {
 public:
  explicit Completions(Mailbox& mailbox) : mailbox_(&mailbox) {}

  // JavaScript thread: remembers a callback, keeps the event loop alive until it was called.
  uint64_t Expect(const Napi::Function& callback);
  // JavaScript thread: this one will not be called.
  void Forget(uint64_t id);
  // JavaScript thread: calls what has come.
  void Deliver(Napi::Env env);
  // JavaScript thread: nobody is called any more.
  void Close();

  // Any thread, any time.
  void Post(uint64_t id, std::string result);

 private:
  std::mutex mutex_;
  Mailbox* mailbox_;  // null after Close
  std::vector<std::pair<uint64_t, std::string>> results_;
  std::map<uint64_t, Napi::FunctionReference> callbacks_;  // JavaScript thread only
  uint64_t next_ = 1;
};

}  // namespace spty
