// The addon's state in one environment: the main thread's, or a worker's. No globals but the pump.
#pragma once

#include <napi.h>

#include <memory>
#include <unordered_set>
#include <vector>

#include "binding/completions.h"
#include "binding/mailbox.h"
#include "pty/pump.h"
#include "session/disposer.h"

namespace spty {

class NativeSession;

class Addon {
 public:
  static Napi::Object Init(Napi::Env env, Napi::Object exports);

  // Opens mailbox and pump on first use: merely loading the addon starts no thread. False with an exception
  // pending.
  bool Ready();
  Mailbox& mailbox() { return mailbox_; }
  Pump& pump() { return *pump_; }
  Disposer& disposer() { return disposer_; }
  Completions& completions() { return *completions_; }
  // Where a session encodes a string on its way to the kernel; of no meaning between two calls.
  std::vector<char>& encoded_input() { return encoded_input_; }

  void Adopt(NativeSession* session) { sessions_.insert(session); }
  void Forget(NativeSession* session) { sessions_.erase(session); }

 private:
  explicit Addon(Napi::Env env) : env_(env) {}
  static Napi::Value OpenPty(const Napi::CallbackInfo& info);
  static Napi::Value ResizePty(const Napi::CallbackInfo& info);
  static void Cleanup(Addon* addon);

  Napi::Env env_;
  Mailbox mailbox_;
  std::shared_ptr<Pump> pump_;
  Disposer disposer_;
  std::shared_ptr<Completions> completions_ = std::make_shared<Completions>(mailbox_);
  std::unordered_set<NativeSession*> sessions_;
  std::vector<char> encoded_input_;
};

}  // namespace spty
