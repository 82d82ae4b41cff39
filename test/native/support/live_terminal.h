// A TerminalIo on the pump, with a test in the place of the child and of the host.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "pty/terminal_io.h"
#include "support/terminal.h"

namespace spty {

class LiveTerminal final : public TerminalIo::Client {
 public:
  LiveTerminal();  // raw: what the child writes is what comes
  ~LiveTerminal();

  TerminalIo* operator->() { return io_.get(); }
  const std::shared_ptr<TerminalIo>& io() { return io_; }
  Pump& pump() { return *pump_; }
  int slave() const { return terminal_.slave(); }
  const std::string& name() const { return terminal_.name(); }
  void CloseSlave() { terminal_.CloseSlave(); }
  void Finish();

  std::string TakeOne();
  std::string TakeAll();
  // Waits for announcements and takes until there are so many bytes.
  std::string ReadBytes(size_t count);
  // Waits until there is output to take or the end has come.
  bool WaitForOutput();
  bool WaitForEnd();
  bool WaitForFlushes(int count);
  // Waits until it was said that no input is left.
  bool WaitForLastFlush();
  bool WaitForAnnouncements(int count);

  int announcements() const { return Count(announcements_); }
  int ends() const { return Count(ends_); }
  int flushes() const { return Count(flushes_); }

 private:
  void OnOutput() override { Increase(&announcements_); }
  void OnOutputEnd() override { Increase(&ends_); }
  void OnInputFlushed() override;
  void Increase(int* counter);
  int Count(const int& counter) const;
  bool Wait(const std::function<bool()>& condition);

  TestTerminal terminal_;
  std::shared_ptr<Pump> pump_;
  std::shared_ptr<TerminalIo> io_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int announcements_ = 0;
  int ends_ = 0;
  int flushes_ = 0;
  int last_flushes_ = 0;
};

}  // namespace spty
