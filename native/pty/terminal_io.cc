#include "pty/terminal_io.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/eintr.h"

namespace spty {
namespace {

// One session may not keep the pump from the others for longer than this much output takes.
constexpr size_t kTurnBytes = size_t{128} << 10;

// With this much input left the host is told that there is room, so that more comes before the last is
// written.
constexpr size_t kLowInput = size_t{128} << 10;

// A terminal's kernel buffers hold less than 80 KiB, so what comes beyond this after the shell's death was
// written after it, by somebody who left the session's terminal and kept an end of it.
constexpr size_t kMaxAfterExit = size_t{256} << 10;

bool IsAscii(const char* bytes, size_t size) {
  unsigned char bits = 0;
  for (size_t i = 0; i < size; ++i)
    bits = static_cast<unsigned char>(bits | static_cast<unsigned char>(bytes[i]));
  return bits < 0x80;
}

bool SlaveClosed(int master) {
  pollfd watched{master, POLLIN, 0};
  return RetryEintr([&] { return poll(&watched, 1, 0); }) == 1 && (watched.revents & POLLHUP) != 0;
}

}  // namespace

Result<void> TerminalIo::Start(std::shared_ptr<TerminalIo> self) {
  return pump_.Add(master_.get(), std::move(self), &token_);
}

void TerminalIo::Detach(const std::shared_ptr<TerminalIo>& self) {
  if (!master_.valid()) return;
  input_.Shut();
  output_.Discard();
  // On the pump, also because hanging up a terminal takes the kernel a while. Shared: std::function copies.
  auto master = std::make_shared<Fd>(std::move(master_));
  pump_.Post([self, master] {
    self->Stop();
    master->Reset();
  });
}

OutputQueue::Taken TerminalIo::TakeOutput(const std::shared_ptr<TerminalIo>& self) {
  OutputQueue::Taken taken = output_.Take();
  if (taken.was_full) pump_.Post([self] { self->ReadAvailable(); });
  return taken;
}

InputQueue::Flushed TerminalIo::Write(std::string_view bytes) {
  InputQueue::Flushed flushed = input_.Write(master_.get(), bytes);
  if (flushed == InputQueue::Flushed::kWaiting && !waits_for_room_.exchange(true))
    pump_.WatchWrites(token_, true);
  return flushed;
}

// The queue was empty a moment ago. If the host has filled it since, it either saw that it need not tell the
// pump, and then we see what it queued; or it tells the pump itself, after what we do here.
void TerminalIo::StopWaitingForRoom() {
  pump_.WatchWrites(token_, false);
  waits_for_room_ = false;
  if (input_.size() == 0) return;
  waits_for_room_ = true;
  pump_.WatchWrites(token_, true);
}

void TerminalIo::OnReady() {
  FlushInput();
  ReadAvailable();
}

void TerminalIo::FlushInput() {
  // While nobody has the slave open there is no point in writing, and there is harm: every write to a
  // terminal, even one that fails with EAGAIN, wakes those who poll it, and a hang-up is always ready to be
  // reported. Who opens the slave again and reads wakes us.
  const size_t before = input_.size();
  if (before == 0 || SlaveClosed(fd_)) return;
  InputQueue::Flushed flushed = input_.Flush(fd_);
  if (flushed == InputQueue::Flushed::kEmpty) StopWaitingForRoom();
  const bool over = flushed == InputQueue::Flushed::kEmpty || flushed == InputQueue::Flushed::kDead;
  if (over || (before > kLowInput && input_.size() <= kLowInput)) client_.OnInputFlushed();
}

void TerminalIo::OnDeadline() {
  looking_at_ = std::nullopt;
  ReadAvailable();
}

void TerminalIo::Finish() {
  finishing_ = true;
  ReadAvailable();
}

void TerminalIo::Inject(std::string_view text) {
  while (!text.empty()) {
    std::unique_ptr<Block> block = output_.BeginFill();
    if (block == nullptr) return;  // only ever called for a child that never ran, so the queue is empty
    size_t size = std::min(text.size(), block->room());
    memcpy(block->bytes + block->size, text.data(), size);
    block->ascii = block->ascii && IsAscii(text.data(), size);
    block->size += size;
    text.remove_prefix(size);
    (void)output_.EndFill(std::move(block));  // the end that follows is announced anyway
  }
}

void TerminalIo::Stop() {
  stopped_ = true;
  input_.Shut();
  pump_.Remove(token_);
}

void TerminalIo::Abandon() {
  Stop();
  output_.Discard();
}

void TerminalIo::ReadAvailable() {
  if (stopped_) return;
  if (ended_) return Discard();
  size_t total = 0;
  ReadEnd end = ReadSome(&total);
  bool over = finishing_ && (end == ReadEnd::kDrained || read_after_exit_ >= kMaxAfterExit);
  bool at_once = over || end == ReadEnd::kFull;
  const bool again = std::exchange(host_missed_some_, false);
  Pacing::Decision decision = pacing_.AfterBatch(total, at_once, Clock::now());
  decision.announce |= again;
  Follow(decision);
  if (over) {
    EndOutput();
  } else if (end == ReadEnd::kTurnOver) {
    // Edge-triggered: nobody will remind us of the rest.
    pump_.Again(token_);
  }
}

void TerminalIo::Follow(const Pacing::Decision& decision) {
  if (decision.look_again != looking_at_) {
    pump_.SetDeadline(token_, decision.look_again);
    looking_at_ = decision.look_again;
  }
  if (decision.announce) client_.OnOutput();
}

TerminalIo::ReadEnd TerminalIo::ReadSome(size_t* total) {
  while (*total < kTurnBytes) {
    std::unique_ptr<Block> block = output_.BeginFill();
    if (block == nullptr) return ReadEnd::kFull;
    ssize_t got = 1;
    while (got > 0 && block->room() >= OutputQueue::kMinRoom) {
      char* at = block->bytes + block->size;
      got = RetryEintr([&] { return read(fd_, at, block->room()); });
      if (got <= 0) break;
      auto size = static_cast<size_t>(got);
      block->ascii = block->ascii && IsAscii(at, size);
      block->size += size;
      *total += size;
      if (finishing_) read_after_exit_ += size;
      // One read empties the line discipline's buffer, and what comes later is a new edge. A second read
      // would wait for the kernel's worker to bring more: welcome if nobody else has anything for us, a waste
      // of time otherwise.
      if (pump_.crowded() && !finishing_) got = 0;
    }
    host_missed_some_ |= output_.EndFill(std::move(block));
    // EAGAIN: the kernel has no more; it has flushed its own work queue before saying so. EIO: moreover
    // nobody has the slave open. The child may have closed its stdio and still open /dev/tty later, so that
    // is not an end.
    if (got <= 0) return ReadEnd::kDrained;
    if (read_after_exit_ >= kMaxAfterExit) return ReadEnd::kDrained;
  }
  return ReadEnd::kTurnOver;
}

void TerminalIo::EndOutput() {
  if (discards_after_end_) {
    input_.Shut();
    pump_.Again(token_);
  } else {
    Stop();
  }
  if (!std::exchange(ended_, true)) client_.OnOutputEnd();
}

void TerminalIo::Discard() {
  char bytes[4096];
  for (size_t total = 0; total < kTurnBytes;) {
    const ssize_t got = RetryEintr([&] { return read(fd_, bytes, sizeof bytes); });
    if (got <= 0) return;
    total += static_cast<size_t>(got);
  }
  pump_.Again(token_);
}

}  // namespace spty
