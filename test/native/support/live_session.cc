#include "support/live_session.h"

#include <gtest/gtest.h>

namespace spty {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);

}  // namespace

SpawnRequest ShellRequest(const std::string& script) {
  SpawnRequest request;
  request.file = "/bin/sh";
  request.args = {"-c", script};
  request.env = {"PATH=/usr/bin:/bin"};
  request.cwd = "/";
  request.keeper_path = SPTY_KEEPER_PATH;
  return request;
}

std::shared_ptr<Pump> AcquirePump() {
  // Found once per process, and held: no part of what one session leaves behind.
  (void)CgroupPlace::Own();
  auto pump = Pump::Acquire();
  EXPECT_TRUE(pump.ok()) << Describe(pump.error());
  return pump.value();
}

void Listener::OnActivity() {
  std::lock_guard lock(mutex_);
  ++calls_;
  changed_.notify_all();
}

bool Listener::WaitUntil(const std::function<bool()>& condition) {
  auto limit = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    size_t seen = calls();
    if (condition()) return true;
    std::unique_lock lock(mutex_);
    if (!changed_.wait_until(lock, limit, [&] { return calls_ != seen; })) return false;
  }
}

size_t Listener::calls() const {
  std::lock_guard lock(mutex_);
  return calls_;
}

LiveSession::LiveSession(const SpawnRequest& request) : pump_(AcquirePump()) {
  auto session = Session::Spawn(request, *pump_, listener_.get());
  if (session.ok()) {
    session_ = std::move(session).value();
  } else {
    error_ = session.error();
  }
}

LiveSession::~LiveSession() { Release(); }

pid_t LiveSession::pid() {
  const Result<pid_t> pid = session_->Pid();
  EXPECT_TRUE(pid.ok()) << Describe(pid.error());
  return pid.ok() ? pid.value() : 0;
}

void LiveSession::Release() {
  if (session_ != nullptr) session_->Release();
  session_ = nullptr;
  pump_ = nullptr;
}

void LiveSession::Collect() {
  for (;;) {
    OutputQueue::Taken taken = session_->TakeOutput();
    if (taken.block == nullptr) return;
    for (size_t i = 0; i < taken.block->size; ++i) {
      if (taken.block->bytes[i] != '\r') unread_ += taken.block->bytes[i];
    }
    Recycle(std::move(taken.block));
  }
}

std::string LiveSession::ReadUntil(const std::string& text) {
  size_t at = std::string::npos;
  bool found = listener_->WaitUntil([&] {
    Collect();
    at = unread_.find(text);
    return at != std::string::npos || session_->TakeEnd().has_value();
  });
  if (!found || at == std::string::npos) {
    ADD_FAILURE() << "no \"" << text << "\" but: " << unread_;
    return std::exchange(unread_, "");
  }
  std::string result = unread_.substr(0, at + text.size());
  unread_.erase(0, result.size());
  return result;
}

Session::End LiveSession::ReadToEnd(std::string* output) {
  std::optional<Session::End> end;
  bool ended = listener_->WaitUntil([&] {
    Collect();
    end = session_->TakeEnd();
    return end.has_value();
  });
  EXPECT_TRUE(ended) << "the session does not end; its output: " << unread_;
  if (output != nullptr) *output = std::exchange(unread_, "");
  return end.value_or(Session::End{-1, -1});
}

}  // namespace spty
