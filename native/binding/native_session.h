// The JavaScript face of a Session: reads arguments, calls, wraps. All on the JavaScript thread but
// OnActivity.
#pragma once

#include <napi.h>

#include <atomic>
#include <memory>

#include "binding/process_list.h"
#include "session/session.h"

namespace spty {

class Addon;

class NativeSession final : public Napi::ObjectWrap<NativeSession>, public Session::Client {
 public:
  static Napi::Function Define(Napi::Env env);
  // new NativeSession(request, {onData, onDrain, onExit, onMore, onLimit, text}): spawns, or throws what
  // failure.h describes.
  explicit NativeSession(const Napi::CallbackInfo& info);
  ~NativeSession() override;

  // Any thread.
  void OnActivity() override;
  // Hands JavaScript what there is: at most one block of output. If there is more, onMore is called, and is
  // expected to call deliver() in a later turn of the event loop. (The mailbox would do it in the same turn,
  // for as long as the pump keeps up, and starve everything else.)
  void Deliver();
  // Ends the session without a word to JavaScript. For the end of the environment.
  void Release();

 private:
  Napi::Value Write(const Napi::CallbackInfo& info);
  Napi::Value Resize(const Napi::CallbackInfo& info);
  Napi::Value Kill(const Napi::CallbackInfo& info);
  Napi::Value ForegroundProgram(const Napi::CallbackInfo& info);
  void Begin(const Napi::CallbackInfo& info);
  void Pause(const Napi::CallbackInfo& info);
  void Resume(const Napi::CallbackInfo& info);
  void HangUp(const Napi::CallbackInfo& info);
  void RefLoop(const Napi::CallbackInfo& info);
  void UnrefLoop(const Napi::CallbackInfo& info);
  Napi::Value Pid(const Napi::CallbackInfo& info);
  Napi::Value Fd(const Napi::CallbackInfo& info);
  Napi::Value SlaveName(const Napi::CallbackInfo& info);
  Napi::Value EnforcementJson(const Napi::CallbackInfo& info);
  Napi::Value TrackingJson(const Napi::CallbackInfo& info);
  Napi::Value TrackingKnown(const Napi::CallbackInfo& info);
  Napi::Value Dispose(const Napi::CallbackInfo& info);
  Napi::Value ListProcesses(const Napi::CallbackInfo& info);
  void ForgetProcesses(const Napi::CallbackInfo& info);
  Napi::Value QueuedInput(const Napi::CallbackInfo& info);
  void DeliverMore(const Napi::CallbackInfo& info);

  void WriteText(const Napi::String& text);
  bool ReadHandlers(const Napi::Value& value);
  void Schedule();
  bool HoldsOutput() const;
  bool HasNews();
  bool OwesTracking() const { return begun_ && !tracking_told_ && session_->found_weak(); }
  void DeliverLimitHits();
  bool DeliverOutput();
  void DeliverEnd();
  void Call(const Napi::FunctionReference& handler, std::initializer_list<napi_value> arguments);
  void SetLoopRef(bool wanted);
  void ForgetSelf();
  void ForgetHandlers();

  Addon* addon_ = nullptr;
  std::shared_ptr<Session> session_;  // null once the end was delivered, or after Release
  // The shell's, once the end was delivered.
  Result<pid_t> pid_ = Error{Stage::kKeeper, ESRCH, "the session is over"};
  // Once there is no session any more.
  Enforcement enforcement_;
  // What it answered about tracking, once the end was delivered.
  std::string tracking_ = "{}";
  bool tracking_told_ = true;  // or not waited for
  Napi::FunctionReference on_data_;
  Napi::FunctionReference on_drain_;
  Napi::FunctionReference on_exit_;
  Napi::FunctionReference on_more_;
  Napi::FunctionReference on_limit_;
  Napi::FunctionReference on_tracking_;
  bool text_ = false;    // pure ASCII output is handed over as a string
  bool paused_ = true;   // at first until lib/ has given listeners a chance to come:
  bool begun_ = false;   // it has
  bool killed_ = false;  // by a signal that ends most shells
  bool hung_up_ = false;
  bool keep_alive_ = false;
  bool end_delivered_ = false;
  bool disposed_ = false;  // or about to be
  bool held_ = false;      // by our own reference
  ProcessList processes_;
  // What session_ was, as long as something of it is left.
  std::weak_ptr<Session> ended_;
  std::shared_ptr<const std::atomic<Session::Loss>> loss_;
  bool holds_loop_ = false;
  // A Deliver is on its way or under way: there is never more than one, from the mailbox or from onMore.
  std::atomic<bool> scheduled_{false};
};

}  // namespace spty
