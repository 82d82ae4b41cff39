#include "binding/host_terminal_binding.h"

#include <cstring>

#include "binding/failure.h"
#include "pty/host_terminal.h"

namespace spty {
namespace {

// makeRaw(fd) -> Buffer, for restoreLine.
Napi::Value MakeRawEntry(const Napi::CallbackInfo& info) {
  auto line = MakeRaw(info[0].ToNumber().Int32Value());
  if (!line.ok()) {
    ToJs(info.Env(), line.error()).ThrowAsJavaScriptException();
    return info.Env().Undefined();
  }
  return Napi::Buffer<char>::Copy(info.Env(), reinterpret_cast<const char*>(&line.value()), sizeof(termios));
}

// restoreLine(fd, Buffer) -> 0 or an errno.
Napi::Value RestoreLineEntry(const Napi::CallbackInfo& info) {
  auto bytes = info[1].As<Napi::Buffer<char>>();
  if (!info[1].IsBuffer() || bytes.Length() != sizeof(termios)) {
    Napi::TypeError::New(info.Env(), "line must come from makeRaw()").ThrowAsJavaScriptException();
    return info.Env().Undefined();
  }
  termios line{};
  memcpy(&line, bytes.Data(), sizeof line);
  auto restored = RestoreLine(info[0].ToNumber().Int32Value(), line);
  return Napi::Number::New(info.Env(), restored.ok() ? 0 : restored.error().err);
}

// inForeground(fd) -> boolean
Napi::Value InForegroundEntry(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), InForeground(info[0].ToNumber().Int32Value()));
}

// readKeySignals(master) -> {suspend, foreground}; -1 each if there is none.
Napi::Value ReadKeySignalsEntry(const Napi::CallbackInfo& info) {
  const KeySignals keys = ReadKeySignals(info[0].ToNumber().Int32Value());
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("suspend", Napi::Number::New(info.Env(), keys.suspend));
  result.Set("foreground", Napi::Number::New(info.Env(), keys.foreground));
  return result;
}

// endBySignal(number): does not return, unless the signal ends nobody.
Napi::Value EndBySignalEntry(const Napi::CallbackInfo& info) {
  EndBySignal(info[0].ToNumber().Int32Value());
  return info.Env().Undefined();
}

}  // namespace

void RegisterHostTerminal(Napi::Env env, Napi::Object exports) {
  exports.Set("makeRaw", Napi::Function::New<MakeRawEntry>(env, "makeRaw"));
  exports.Set("restoreLine", Napi::Function::New<RestoreLineEntry>(env, "restoreLine"));
  exports.Set("inForeground", Napi::Function::New<InForegroundEntry>(env, "inForeground"));
  exports.Set("readKeySignals", Napi::Function::New<ReadKeySignalsEntry>(env, "readKeySignals"));
  exports.Set("endBySignal", Napi::Function::New<EndBySignalEntry>(env, "endBySignal"));
}

}  // namespace spty
