#include "support/live_terminal.h"

#include <gtest/gtest.h>

#include "support/live_session.h"

namespace spty {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);

}  // namespace

LiveTerminal::LiveTerminal() : pump_(AcquirePump()) {
  terminal_.MakeRaw();
  io_ = std::make_shared<TerminalIo>(terminal_.TakeMaster(), *pump_, *this);
  EXPECT_TRUE(io_->Start(io_).ok());
}

LiveTerminal::~LiveTerminal() {
  pump_->Run([&] { io_->Abandon(); });
}

void LiveTerminal::Finish() {
  pump_->Run([&] { io_->Finish(); });
}

std::string LiveTerminal::TakeOne() {
  OutputQueue::Taken taken = io_->TakeOutput(io_);
  if (taken.block == nullptr) return "";
  std::string bytes(taken.block->bytes, taken.block->size);
  Recycle(std::move(taken.block));
  return bytes;
}

std::string LiveTerminal::TakeAll() {
  std::string all;
  for (std::string some; !(some = TakeOne()).empty();) all += some;
  return all;
}

std::string LiveTerminal::ReadBytes(size_t count) {
  std::string all;
  while (all.size() < count) {
    int seen = announcements();
    std::string some = TakeAll();
    all += some;
    if (!some.empty()) continue;
    if (!Wait([&] { return announcements_ != seen || ends_ > 0; })) {
      ADD_FAILURE() << "only " << all.size() << " of " << count << " bytes came";
      break;
    }
    if (ends() > 0 && !io_->has_output()) break;
  }
  return all;
}

bool LiveTerminal::WaitForOutput() {
  for (;;) {
    int seen = announcements();
    if (io_->has_output() || ends() > 0) return true;
    if (!Wait([&] { return announcements_ != seen || ends_ > 0; })) return false;
  }
}

bool LiveTerminal::WaitForEnd() {
  return Wait([&] { return ends_ > 0; });
}

bool LiveTerminal::WaitForFlushes(int count) {
  return Wait([&] { return flushes_ >= count; });
}

bool LiveTerminal::WaitForLastFlush() {
  return Wait([&] { return last_flushes_ > 0; });
}

void LiveTerminal::OnInputFlushed() {
  if (io_->queued_input() == 0) Increase(&last_flushes_);
  Increase(&flushes_);
}

bool LiveTerminal::WaitForAnnouncements(int count) {
  return Wait([&] { return announcements_ >= count; });
}

void LiveTerminal::Increase(int* counter) {
  std::lock_guard lock(mutex_);
  ++*counter;
  changed_.notify_all();
}

int LiveTerminal::Count(const int& counter) const {
  std::lock_guard lock(mutex_);
  return counter;
}

bool LiveTerminal::Wait(const std::function<bool()>& condition) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, condition);
}

}  // namespace spty
