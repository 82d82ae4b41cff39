// The host's handle on one keeper.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <chrono>
#include <mutex>
#include <span>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "keeper/plan.h"
#include "session/frame_reader.h"

namespace spty {

class KeeperProcess {
 public:
  // Starts the program at `path`: in a session of its own (a Ctrl-C in the host's terminal is not meant for
  // it), all signals blocked, /dev/null as stdio, its control socket the only other descriptor.
  static Result<KeeperProcess> Start(const std::string& path);
  KeeperProcess(KeeperProcess&&) noexcept;
  KeeperProcess& operator=(KeeperProcess&&) = delete;
  // If the keeper has not been reaped: ends its session and waits for it, until EndPatience.
  ~KeeperProcess();

  // Tells the keeper what is about to be made for the session, so that it can remove that if there is never a
  // plan. `place` is the directory of the cgroup, or -1.
  Result<void> Reserve(const Reservation& reservation, int place);
  // Has the keeper add rules to the shell's ruleset, as soon as it has got that with the plan. One that is
  // gone by then will not get the plan either, and that is where its last word is heard.
  Result<void> Complete(const RulesAround& around);
  // Sends the plan with the descriptors that it speaks of.
  Result<void> SendPlan(const std::string& plan, std::span<const int> fds);
  // Asks what the kernel offers. The keeper ends after its answer.
  Result<wire::Features> Probe();
  // Waits for the next frame; an error if the keeper closes or says nothing for ten seconds.
  Result<Frame> Await();

  // Asks for a signal to the shell. Any thread. False if the session is over.
  bool SendSignal(int number);
  // Tells the keeper that the session is over, and wakes it should somebody have stopped it. Any thread, any
  // number of times. False if it had been told before.
  bool EndSession();
  using Clock = std::chrono::steady_clock;
  // When it was told.
  Clock::time_point ended_at() const;
  // How long to wait for a keeper's end when everything else is over.
  static constexpr auto kEndPatience = std::chrono::seconds(1);

  // 0 once it was reaped. Any thread.
  pid_t pid() const;
  int control() const { return control_.get(); }
  FrameReader& frames() { return frames_; }
  // A signal to the keeper itself, if it has not been reaped. Any thread.
  void SignalKeeper(int number);
  // Reaps the keeper if it has ended; never waits: whoever traces it can keep its end from us for as long as
  // he likes. True if there is nothing left to reap.
  bool TryReap();
  // Ends the session and forgets the keeper without waiting; whoever starts the next one reaps it.
  void ReapLater();

 private:
  Result<void> Send(wire::Type type, const std::string& payload, std::span<const int> fds);
  Result<size_t> SendSome(const msghdr& message);
  Result<void> WaitFor(short events);
  KeeperProcess(Fd control, pid_t pid) : pid_(pid), control_(std::move(control)) {}

  void SignalKeeperLocked(int number);

  mutable std::mutex mutex_;  // guards what follows, and sending
  bool ended_ = false;
  Clock::time_point ended_at_{};
  pid_t pid_ = 0;
  Fd control_;
  FrameReader frames_;
  uint32_t arounds_ = 0;  // that Complete has sent
};

}  // namespace spty
