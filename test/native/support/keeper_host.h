// A host that drives a keeper over its control socket, byte by byte if a test wants that.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "keeper/plan.h"
#include "session/frame_reader.h"

namespace spty {

// /bin/sh -c script, in "/", with a plain PATH.
Plan ShellPlan(const std::string& script);
// One program with arguments, argv[0] being its path.
Plan ProgramPlan(std::vector<std::string> argv);

class KeeperHost {
 public:
  explicit KeeperHost(const std::string& path = SPTY_KEEPER_PATH);
  // Ends the session and fails the test if the keeper does not follow.
  ~KeeperHost();
  KeeperHost(const KeeperHost&) = delete;
  KeeperHost& operator=(const KeeperHost&) = delete;

  pid_t pid() const { return pid_; }
  int control() const { return control_.get(); }

  void Send(const std::string& bytes, const std::vector<int>& descriptors = {});
  // The bytes of a whole kReserve frame, which comes with so many descriptors.
  static std::string ReservationFrame(const Reservation& reservation, uint32_t descriptors);
  // The bytes of a whole kPlan frame.
  static std::string PlanFrame(const Plan& plan);
  void SendPlan(const Plan& plan, int slave) { Send(PlanFrame(plan), {slave}); }
  void SendSignal(int number);
  // No more from us.
  void Hang() { control_.Reset(); }

  // The next frame; nothing if the keeper has closed or is silent for twenty seconds.
  std::optional<Frame> Next();
  // The next frame, which must be of this type.
  Frame Expect(wire::Type type);
  // Runs the plan's program: its pid, once it executes.
  pid_t Start(const Plan& plan, int slave);
  // Waits for the keeper's own end: its wait status.
  int Wait();

 private:
  Fd control_;
  FrameReader frames_;
  pid_t pid_ = 0;
};

}  // namespace spty
