// The traffic of one terminal: reads the master into an OutputQueue and writes an InputQueue to it, on the
// pump.
#pragma once

#include <atomic>

#include "base/fd.h"
#include "pty/input_queue.h"
#include "pty/output_queue.h"
#include "pty/pacing.h"
#include "pty/pump.h"

namespace spty {

class TerminalIo final : public Pump::Source {
 public:
  // Called on the pump thread.
  class Client {
   public:
    // The output queue holds something that has not been announced yet.
    virtual void OnOutput() = 0;
    // After Finish: every byte that the shell ever wrote is in the queue. Once.
    virtual void OnOutputEnd() = 0;
    // All queued input is with the kernel, or was dropped because the terminal is gone; before that, once
    // much of it is.
    virtual void OnInputFlushed() = 0;

   protected:
    ~Client() = default;
  };

  // `pump` and `client` outlive this object.
  TerminalIo(Fd master, Pump& pump, Client& client)
      : master_(std::move(master)), fd_(master_.get()), pump_(pump), client_(client) {}

  // Before Start: once the shell is gone and its output complete, what others still print is read and thrown
  // away, so that they need not wait for somebody to read it.
  void DiscardAfterEnd() { discards_after_end_ = true; }
  // Host thread. `self` keeps this object alive while the pump watches it.
  Result<void> Start(std::shared_ptr<TerminalIo> self);
  // -1 once detached.
  int fd() const { return master_.get(); }
  InputQueue::Flushed Write(std::string_view bytes);
  size_t queued_input() const { return input_.size(); }
  // The oldest block of output; makes the pump go on reading if the queue had been full.
  OutputQueue::Taken TakeOutput(const std::shared_ptr<TerminalIo>& self);
  bool has_output() { return !output_.empty(); }
  // Ends all traffic, drops what is queued and closes the master. From here on the host thread has no
  // descriptor, so it cannot hit a stranger's; the pump closes it as soon as it has let go of it itself. Does
  // not wait for that.
  void Detach(const std::shared_ptr<TerminalIo>& self);

  // Pump thread.
  void OnReady() override;
  void OnDeadline() override;
  // The shell is gone: read what it left in the kernel, then OnOutputEnd.
  void Finish();
  // Text of our own in the stream, as if the child had printed it.
  void Inject(std::string_view text);
  // No more traffic: nothing touches the master afterwards. Queued input is dropped, queued output kept.
  void Stop();
  // Stop, and drop the queued output too.
  void Abandon();

 private:
  enum class ReadEnd { kDrained, kFull, kTurnOver };

  void FlushInput();
  void StopWaitingForRoom();
  void ReadAvailable();
  ReadEnd ReadSome(size_t* total);
  void Follow(const Pacing::Decision& decision);
  void EndOutput();
  void Discard();

  Fd master_;     // the host thread's
  const int fd_;  // the pump's, valid until Stop
  Pump& pump_;
  Client& client_;
  InputQueue input_;
  std::atomic<bool> waits_for_room_{false};  // the pump is to hear when the kernel takes input again
  OutputQueue output_;

  Pump::Token token_ = 0;  // set by Start, before the pump can know of us
  // Pump thread only.
  bool stopped_ = false;
  bool finishing_ = false;
  bool ended_ = false;
  bool discards_after_end_ = false;
  size_t read_after_exit_ = 0;
  Pacing pacing_;
  bool host_missed_some_ = false;
  std::optional<Clock::time_point> looking_at_;
};

}  // namespace spty
