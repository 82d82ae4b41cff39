#include "pty/terminal_io.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/eintr.h"

namespace spty {
namespace {

// One session may not keep the pump from the others for longer than this much output takes.
constexpr size_t kTurnBytes = size_t{128} << 10;

// A terminal's kernel buffers hold less than 80 KiB, so what comes beyond this after the shell's death was
// written after it, by somebody who left the session's terminal and kept an end of it.
constexpr size_t kMaxAfterExit = size_t{256} << 10;

// Output is announced to the host at once, unless it flows: more than kFlowBytes in a window. Then it is
// announced when a block is nearly full, or after kFlowDelay. A keystroke's echo is never delayed.
constexpr size_t kFlowBytes = size_t{8} << 10;
constexpr size_t kBulkBytes = size_t{48} << 10;
constexpr auto kFlowDelay = std::chrono::milliseconds(4);

bool IsAscii(const char* bytes, size_t size) {
  unsigned char bits = 0;
  for (size_t i = 0; i < size; ++i)
    bits = static_cast<unsigned char>(bits | static_cast<unsigned char>(bytes[i]));
  return bits < 0x80;
}

}  // namespace

Result<void> TerminalIo::Start(std::shared_ptr<TerminalIo> self) {
  return pump_.Add(master_.get(), std::move(self), &token_);
}

OutputQueue::Taken TerminalIo::TakeOutput(const std::shared_ptr<TerminalIo>& self) {
  OutputQueue::Taken taken = output_.Take();
  if (taken.was_full) pump_.Post([self] { self->ReadAvailable(); });
  return taken;
}

void TerminalIo::OnReady() {
  InputQueue::Flushed flushed = input_.Flush(master_.get());
  if (flushed == InputQueue::Flushed::kEmpty || flushed == InputQueue::Flushed::kDead)
    client_.OnInputFlushed();
  ReadAvailable();
}

void TerminalIo::OnDeadline() {
  announcement_due_ = false;
  Announce(0, true);
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
    output_.EndFill(std::move(block));
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
  size_t total = 0;
  ReadEnd end = ReadSome(&total);
  bool over = finishing_ && (end == ReadEnd::kDrained || read_after_exit_ >= kMaxAfterExit);
  Announce(total, over || end == ReadEnd::kFull);
  if (over) {
    EndOutput();
  } else if (end == ReadEnd::kTurnOver) {
    // Edge-triggered: nobody will remind us of the rest.
    pump_.Again(token_);
  }
}

TerminalIo::ReadEnd TerminalIo::ReadSome(size_t* total) {
  while (*total < kTurnBytes) {
    std::unique_ptr<Block> block = output_.BeginFill();
    if (block == nullptr) return ReadEnd::kFull;
    ssize_t got = 1;
    while (got > 0 && block->room() >= OutputQueue::kMinRoom) {
      char* at = block->bytes + block->size;
      got = RetryEintr([&] { return read(master_.get(), at, block->room()); });
      if (got <= 0) break;
      auto size = static_cast<size_t>(got);
      block->ascii = block->ascii && IsAscii(at, size);
      block->size += size;
      *total += size;
      if (finishing_) read_after_exit_ += size;
    }
    output_.EndFill(std::move(block));
    // EAGAIN: the kernel has no more; it has flushed its own work queue before saying so. EIO: moreover
    // nobody has the slave open. The child may have closed its stdio and still open /dev/tty later, so that
    // is not an end.
    if (got <= 0) return ReadEnd::kDrained;
    if (read_after_exit_ >= kMaxAfterExit) return ReadEnd::kDrained;
  }
  return ReadEnd::kTurnOver;
}

void TerminalIo::Announce(size_t added, bool at_once) {
  unannounced_ += added;
  if (unannounced_ == 0) return;
  Clock::time_point now = Clock::now();
  window_bytes_ += added;
  if (!at_once && unannounced_ < kBulkBytes && Flowing(now)) {
    if (!std::exchange(announcement_due_, true)) pump_.SetDeadline(token_, now + kFlowDelay);
    return;
  }
  unannounced_ = 0;
  if (std::exchange(announcement_due_, false)) pump_.SetDeadline(token_, std::nullopt);
  client_.OnOutput();
}

bool TerminalIo::Flowing(Clock::time_point now) {
  if (now - window_start_ >= kFlowDelay) {
    window_before_full_ = window_bytes_ >= kFlowBytes && now - window_start_ < 2 * kFlowDelay;
    window_start_ = now;
    window_bytes_ = 0;
  }
  return window_before_full_ || window_bytes_ >= kFlowBytes;
}

void TerminalIo::EndOutput() {
  Stop();
  if (!std::exchange(ended_, true)) client_.OnOutputEnd();
}

}  // namespace spty
