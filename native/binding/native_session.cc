#include "binding/native_session.h"

#include <signal.h>

#include <cerrno>

#include "binding/addon.h"
#include "binding/failure.h"
#include "binding/keeper_handle.h"
#include "binding/read_request.h"
#include "session/tracking_report.h"

namespace spty {

Napi::Function NativeSession::Define(Napi::Env env) {
  return DefineClass(env, "NativeSession",
                     {
                         InstanceMethod<&NativeSession::Write>("write"),
                         InstanceMethod<&NativeSession::Resize>("resize"),
                         InstanceMethod<&NativeSession::Kill>("kill"),
                         InstanceMethod<&NativeSession::ForegroundProgram>("foregroundProgram"),
                         InstanceMethod<&NativeSession::Begin>("begin"),
                         InstanceMethod<&NativeSession::Pause>("pause"),
                         InstanceMethod<&NativeSession::Resume>("resume"),
                         InstanceMethod<&NativeSession::HangUp>("hangUp"),
                         InstanceMethod<&NativeSession::DeliverMore>("deliver"),
                         InstanceMethod<&NativeSession::RefLoop>("ref"),
                         InstanceMethod<&NativeSession::UnrefLoop>("unref"),
                         InstanceAccessor<&NativeSession::Pid>("pid"),
                         InstanceAccessor<&NativeSession::Fd>("fd"),
                         InstanceAccessor<&NativeSession::SlaveName>("slaveName"),
                         InstanceAccessor<&NativeSession::QueuedInput>("queuedInput"),
                         InstanceAccessor<&NativeSession::EnforcementJson>("enforcement"),
                         InstanceAccessor<&NativeSession::TrackingJson>("tracking"),
                         InstanceAccessor<&NativeSession::TrackingKnown>("trackingKnown"),
                         InstanceMethod<&NativeSession::Dispose>("dispose"),
                         InstanceMethod<&NativeSession::ListProcesses>("listProcesses"),
                         InstanceMethod<&NativeSession::ForgetProcesses>("forgetProcesses"),
                     });
}

NativeSession::NativeSession(const Napi::CallbackInfo& info) : Napi::ObjectWrap<NativeSession>(info) {
  Napi::Env env = info.Env();
  addon_ = env.GetInstanceData<Addon>();
  std::optional<SpawnRequest> request = ReadSpawnRequest(info[0]);
  if (!request) return;
  if (!ReadHandlers(info[1])) return;
  if (!addon_->Ready()) return;
  const Napi::Value handle = info[0].As<Napi::Object>().Get("keeper");
  std::optional<PreparedKeeper> keeper = TakeKeeper(handle);
  // Not on with another one: this one knows of the directory that was made for the session.
  if (!handle.IsUndefined() && !keeper) {
    Napi::TypeError::New(env, "keeper must come from startKeeper() and not be used")
        .ThrowAsJavaScriptException();
    return;
  }
  auto session = keeper ? Session::Spawn(*request, std::move(*keeper), addon_->pump(), this)
                        : Session::Spawn(*request, addon_->pump(), this);
  if (!session.ok()) {
    ToJs(env, session.error()).ThrowAsJavaScriptException();
    return;
  }
  session_ = std::move(session).value();
  loss_ = session_->loss();
  keep_alive_ = request->keep_alive_after_exit;
  addon_->Adopt(this);
  Ref();  // JavaScript may forget us; a running shell is not forgotten
  held_ = true;
  SetLoopRef(true);
}

NativeSession::~NativeSession() { Release(); }

// False with a TypeError pending.
bool NativeSession::ReadHandlers(const Napi::Value& value) {
  const std::pair<const char*, Napi::FunctionReference*> handlers[] = {
      {"onData", &on_data_}, {"onDrain", &on_drain_}, {"onExit", &on_exit_},
      {"onMore", &on_more_}, {"onLimit", &on_limit_}, {"onTracking", &on_tracking_}};
  Napi::Value object = value.IsObject() ? value : Napi::Object::New(value.Env());
  for (const auto& [name, reference] : handlers) {
    Napi::Value handler = object.As<Napi::Object>().Get(name);
    if (!handler.IsFunction()) {
      Napi::TypeError::New(value.Env(), std::string(name) + " must be a function")
          .ThrowAsJavaScriptException();
      return false;
    }
    *reference = Napi::Persistent(handler.As<Napi::Function>());
  }
  text_ = object.As<Napi::Object>().Get("text").ToBoolean().Value();
  return true;
}

void NativeSession::OnActivity() { Schedule(); }

void NativeSession::Schedule() {
  if (!scheduled_.exchange(true)) addon_->mailbox().Post(this);
}

void NativeSession::Deliver() {
  if (session_ == nullptr) return;
  if (session_->TakeInputFlushed()) Call(on_drain_, {});
  if (session_ != nullptr && OwesTracking()) {
    tracking_told_ = true;
    Call(on_tracking_, {});
  }
  if (session_ != nullptr) DeliverLimitHits();
  // While output is held back there is no end either, unless there is no output.
  if (session_ != nullptr && (HoldsOutput() || !DeliverOutput())) DeliverEnd();
  if (session_ == nullptr) return;
  scheduled_ = false;
  // What the pump reported until here it did not post. From here on it does, so nothing is missed and nothing
  // is scheduled twice.
  if (HasNews() && !scheduled_.exchange(true)) Call(on_more_, {});
}

void NativeSession::DeliverLimitHits() {
  if (!session_->has_hits()) return;
  const LimitHits hits = session_->TakeHits();
  napi_value processes = nullptr;
  napi_value memory = nullptr;
  if (napi_create_double(Env(), static_cast<double>(hits.processes), &processes) == napi_ok &&
      napi_create_double(Env(), static_cast<double>(hits.memory), &memory) == napi_ok) {
    Call(on_limit_, {processes, memory});
  }
}

// Whoever has killed the shell waits for its end, not for more of its output.
bool NativeSession::HoldsOutput() const { return paused_ && !(begun_ && killed_ && session_->shell_ended()); }

bool NativeSession::HasNews() {
  if (session_->input_flushed() || session_->has_hits() || OwesTracking()) return true;
  if (!HoldsOutput() && session_->has_output()) return true;
  return begun_ && !end_delivered_ && session_->HasEnd();
}

bool NativeSession::DeliverOutput() {
  OutputQueue::Taken taken = session_->TakeOutput();
  if (taken.block == nullptr) return false;
  // A copy in either case: external memory is forbidden in Electron, and the block is needed again.
  const Block& block = *taken.block;
  napi_value chunk = nullptr;
  napi_status status = text_ && block.ascii
                           ? napi_create_string_latin1(Env(), block.bytes, block.size, &chunk)
                           : napi_create_buffer_copy(Env(), block.size, block.bytes, nullptr, &chunk);
  Recycle(std::move(taken.block));
  if (status == napi_ok) Call(on_data_, {chunk});
  return true;
}

void NativeSession::DeliverEnd() {
  if (end_delivered_ || !begun_) return;
  std::optional<Session::End> end = session_->TakeEnd();
  if (!end) return;
  end_delivered_ = true;
  // What stays alive after the shell needs its session, until that is disposed of.
  const bool stays = keep_alive_ && !disposed_;
  const bool lost = session_->keeper_lost();
  stays ? SetLoopRef(false) : Release();
  napi_value code = nullptr;
  napi_value signal = nullptr;
  napi_value keeper_lost = nullptr;
  if (napi_create_int32(Env(), end->code, &code) == napi_ok &&
      napi_create_int32(Env(), end->signal, &signal) == napi_ok &&
      napi_get_boolean(Env(), lost, &keeper_lost) == napi_ok) {
    Call(on_exit_, {code, signal, keeper_lost});
  }
  // What stays may still run into its limits.
  if (stays) return;
  ForgetHandlers();
  ForgetSelf();
}

// They hold the terminal, and the terminal holds us: nothing of that would ever be collected.
void NativeSession::ForgetHandlers() {
  for (Napi::FunctionReference* handler :
       {&on_data_, &on_drain_, &on_exit_, &on_more_, &on_limit_, &on_tracking_})
    handler->Reset();
}

// Nothing holds us for the session's sake any more.
void NativeSession::ForgetSelf() {
  if (std::exchange(held_, false)) Unref();
}

// Whatever a listener throws is the program's uncaught exception, as from any other event in Node. Plain
// Node-API with every status looked at: in a worker that is being terminated nothing of JavaScript can be
// called, or even made, and the C++ wrappers would end the whole process over it. Then there is nobody to
// tell, and the environment's end releases us.
void NativeSession::Call(const Napi::FunctionReference& handler,
                         std::initializer_list<napi_value> arguments) {
  napi_env env = Env();
  napi_value function = nullptr;
  napi_value receiver = nullptr;
  if (napi_get_reference_value(env, handler, &function) != napi_ok || function == nullptr) return;
  if (napi_get_undefined(env, &receiver) != napi_ok) return;
  if (napi_call_function(env, receiver, function, arguments.size(), arguments.begin(), nullptr) == napi_ok)
    return;
  bool pending = false;
  napi_value error = nullptr;
  if (napi_is_exception_pending(env, &pending) != napi_ok || !pending) return;
  if (napi_get_and_clear_last_exception(env, &error) == napi_ok) napi_fatal_exception(env, error);
}

void NativeSession::Release() {
  if (session_ == nullptr) return;
  std::shared_ptr<Session> session = std::move(session_);
  ended_ = session;
  processes_.Forget();
  enforcement_ = session->enforcement();
  if (end_delivered_) {
    pid_ = session->Pid();
    tracking_ = TrackingToJson(*session);
  }
  session->Release();
  addon_->Forget(this);
  SetLoopRef(false);
}

void NativeSession::SetLoopRef(bool wanted) {
  if (std::exchange(holds_loop_, wanted) == wanted) return;
  wanted ? addon_->mailbox().Ref() : addon_->mailbox().Unref();
}

Napi::Value NativeSession::Write(const Napi::CallbackInfo& info) {
  if (session_ == nullptr) return Napi::Number::New(info.Env(), 0);
  napi_typedarray_type type = napi_int8_array;
  size_t size = 0;
  void* bytes = nullptr;
  if (info[0].IsString()) {
    WriteText(info[0].As<Napi::String>());
  } else if (napi_get_typedarray_info(info.Env(), info[0], &type, &size, &bytes, nullptr, nullptr) ==
                 napi_ok &&
             type == napi_uint8_array) {
    session_->Write({static_cast<const char*>(bytes), size});
  } else {
    Napi::TypeError::New(info.Env(), "data must be a string or a Uint8Array").ThrowAsJavaScriptException();
  }
  return QueuedInput(info);
}

// With room for the worst case V8 encodes in one pass; asking for the length first would be another one.
void NativeSession::WriteText(const Napi::String& text) {
  constexpr size_t kBytesPerUnit = 3;  // the most that one UTF-16 unit becomes in UTF-8
  size_t units = 0;
  if (napi_get_value_string_utf16(Env(), text, nullptr, 0, &units) != napi_ok) return;
  std::vector<char>& encoded = addon_->encoded_input();
  if (encoded.size() <= units * kBytesPerUnit) encoded.resize(units * kBytesPerUnit + 1);
  size_t size = 0;
  if (napi_get_value_string_utf8(Env(), text, encoded.data(), encoded.size(), &size) != napi_ok) return;
  session_->Write({encoded.data(), size});
}

Napi::Value NativeSession::QueuedInput(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(),
                           session_ == nullptr ? 0 : static_cast<double>(session_->queued_input()));
}

Napi::Value NativeSession::Resize(const Napi::CallbackInfo& info) {
  auto cells = [&](size_t i) { return static_cast<uint16_t>(info[i].ToNumber().Uint32Value()); };
  if (session_ == nullptr) return Napi::Number::New(info.Env(), EBADF);
  auto resized = session_->Resize(WindowSize{cells(0), cells(1), cells(2), cells(3)});
  return Napi::Number::New(info.Env(), resized.ok() ? 0 : resized.error().err);
}

Napi::Value NativeSession::Kill(const Napi::CallbackInfo& info) {
  const int number = info[0].ToNumber().Int32Value();
  bool sent = session_ != nullptr && session_->Signal(number);
  for (int ending : {SIGHUP, SIGINT, SIGQUIT, SIGKILL, SIGTERM}) killed_ |= number == ending;
  // It may have ended before.
  if (session_ != nullptr && killed_) Schedule();
  return Napi::Boolean::New(info.Env(), sent);
}

Napi::Value NativeSession::ForegroundProgram(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), session_ == nullptr ? "" : session_->ForegroundProgram());
}

// Listeners have had their chance to come.
void NativeSession::Begin(const Napi::CallbackInfo&) {
  begun_ = true;
  if (session_ != nullptr) Schedule();
}

// A terminal that was hung up has nothing to hold back any more, but its end.
void NativeSession::Pause(const Napi::CallbackInfo&) { paused_ = !hung_up_; }

void NativeSession::Resume(const Napi::CallbackInfo&) {
  paused_ = false;
  if (session_ != nullptr) Schedule();
}

void NativeSession::HangUp(const Napi::CallbackInfo&) {
  if (session_ == nullptr) return;
  hung_up_ = true;
  begun_ = true;
  paused_ = false;
  session_->HangUp();
  Schedule();
}

void NativeSession::DeliverMore(const Napi::CallbackInfo&) { Deliver(); }

void NativeSession::RefLoop(const Napi::CallbackInfo&) { SetLoopRef(session_ != nullptr); }

void NativeSession::UnrefLoop(const Napi::CallbackInfo&) { SetLoopRef(false); }

// Never a number that means somebody else to whoever signals it: 0 and -1 are many.
Napi::Value NativeSession::Pid(const Napi::CallbackInfo& info) {
  const Result<pid_t> pid = session_ == nullptr ? pid_ : session_->Pid();
  if (pid.ok()) return Napi::Number::New(info.Env(), pid.value());
  ToJs(info.Env(), pid.error()).ThrowAsJavaScriptException();
  return info.Env().Undefined();
}

Napi::Value NativeSession::Fd(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), session_ == nullptr ? -1 : session_->master());
}

// What ends the session. Waits for the keeper to tell what it can prove, where Spawn did not.
Napi::Value NativeSession::TrackingJson(const Napi::CallbackInfo& info) {
  if (session_ == nullptr) return Napi::String::New(info.Env(), tracking_);
  if (session_->scope_pending()) (void)session_->Pid();
  return Napi::String::New(info.Env(), TrackingToJson(*session_));
}

// If not, onTracking tells when it is, should it be weak.
Napi::Value NativeSession::TrackingKnown(const Napi::CallbackInfo& info) {
  tracking_told_ = session_ == nullptr || session_->scope_known();
  return Napi::Boolean::New(info.Env(), tracking_told_);
}

// dispose({signal, graceMs, deadlineMs}, callback(json)) -> whether there is something to end; if not, the
// callback is not called.
Napi::Value NativeSession::Dispose(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  std::shared_ptr<Session> session = session_ != nullptr ? session_ : ended_.lock();
  const Session::Loss loss = loss_ == nullptr ? Session::Loss::kNone : loss_->load();
  if (session == nullptr && loss == Session::Loss::kNone) return Napi::Boolean::New(env, false);
  if (session == nullptr) {
    addon_->completions().Post(addon_->completions().Expect(info[1].As<Napi::Function>()),
                               DisposeReportToJson(LossReport(loss == Session::Loss::kEnded)));
    return Napi::Boolean::New(env, true);
  }
  auto options = info[0].As<Napi::Object>();
  const auto number = [&](const char* name) { return options.Get(name).ToNumber().Int64Value(); };
  DisposeOptions wanted;
  wanted.signal = static_cast<int>(number("signal"));
  wanted.grace = std::chrono::milliseconds(number("graceMs"));
  wanted.deadline = std::chrono::milliseconds(number("deadlineMs"));
  // Held back output would hold back the end.
  hung_up_ = true;
  begun_ = true;
  paused_ = false;
  const uint64_t id = addon_->completions().Expect(info[1].As<Napi::Function>());
  const auto done = [completions = addon_->completions().shared_from_this(),
                     id](const DisposeReport& report) { completions->Post(id, DisposeReportToJson(report)); };
  if (auto added = addon_->disposer().Add(std::move(session), wanted, done); !added.ok()) {
    addon_->completions().Forget(id);
    ToJs(env, added.error()).ThrowAsJavaScriptException();
    return env.Undefined();
  }
  disposed_ = true;
  if (end_delivered_ && session_ != nullptr) {
    Release();
    ForgetHandlers();
    ForgetSelf();
  } else if (session_ != nullptr) {
    Schedule();
  }
  return Napi::Boolean::New(env, true);
}

// listProcesses() -> JSON
Napi::Value NativeSession::ListProcesses(const Napi::CallbackInfo& info) {
  const std::shared_ptr<Session> session = session_ != nullptr ? session_ : ended_.lock();
  if (session == nullptr) return Napi::String::New(info.Env(), "[]");
  // A session that has just been asked for has its shell in the list.
  (void)session->Pid();
  const std::string list = processes_.ToJson(*session);
  // Nobody will be told when the rest of an ended session is gone.
  if (session_ == nullptr) processes_.Forget();
  return Napi::String::New(info.Env(), list);
}

void NativeSession::ForgetProcesses(const Napi::CallbackInfo&) { processes_.Forget(); }

Napi::Value NativeSession::EnforcementJson(const Napi::CallbackInfo& info) {
  const Enforcement& enforcement = session_ == nullptr ? enforcement_ : session_->enforcement();
  return Napi::String::New(info.Env(), spty::EnforcementToJson(enforcement));
}

Napi::Value NativeSession::SlaveName(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), session_ == nullptr ? "" : session_->slave_name());
}

}  // namespace spty
