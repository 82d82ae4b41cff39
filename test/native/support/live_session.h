// A session with the host's part done: it waits for activity and collects output.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "session/session.h"

namespace spty {

// /bin/sh -c script, in "/", with a plain PATH.
SpawnRequest ShellRequest(const std::string& script);

// The process's pump, or a failed test.
std::shared_ptr<Pump> AcquirePump();

class Listener final : public Session::Client {
 public:
  void OnActivity() override;
  // Waits until `condition` holds, asking again after each activity; false after twenty seconds.
  bool WaitUntil(const std::function<bool()>& condition);
  size_t calls() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  size_t calls_ = 0;
};

class LiveSession {
 public:
  explicit LiveSession(const SpawnRequest& request);
  // Releases, and waits until nothing of it is left if this was the last session.
  ~LiveSession();

  bool ok() const { return session_ != nullptr; }
  const Error& error() const { return error_; }
  Session* operator->() { return session_.get(); }
  // The shell's; a failed test if it has none.
  pid_t pid();
  Listener& listener() { return *listener_; }
  Pump& pump() { return *pump_; }

  // Everything up to and including `text`, without carriage returns.
  std::string ReadUntil(const std::string& text);
  // Waits for the end, collecting all output before it.
  Session::End ReadToEnd(std::string* output = nullptr);
  // Takes what is there now.
  void Collect();
  void Release();

 private:
  std::shared_ptr<Pump> pump_;
  std::unique_ptr<Listener> listener_ = std::make_unique<Listener>();
  std::shared_ptr<Session> session_;
  Error error_;
  std::string unread_;
};

}  // namespace spty
