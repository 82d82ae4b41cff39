// Runs an attempt in a terminal session three times: without a policy (it must succeed, or the test would
// show nothing), under the policy (it must fail, in the way that is stated), and under the policy with a
// grant (it must succeed again), where there is one. The second is repeated with less of Landlock.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "escape/world.h"
#include "support/live_session.h"

namespace spty {

// Only the project; no network, temporary files and terminals of its own.
inline constexpr char kWorkspace[] = R"("profile": "workspace")";
// The same with the network.
inline constexpr char kOnline[] = R"("profile": "network-allow-all")";
// Also the directory {shared}, in which an outsider has its sockets, as they are in /tmp and /run/user.
inline constexpr char kShared[] = R"("profile": "workspace", "additional_read_write_paths": ["{shared}"])";

// Instead of a grant: no setting allows it.
inline constexpr char kNever[] = "never";
// Instead of a grant: not promised, and succeeds inside too. Noted here so that a change is noticed.
inline constexpr char kNotPromised[] = "not promised";

struct Attempt {
  std::string name;                  // of the test
  std::vector<std::string> command;  // probe, sub-command, arguments; see World::Fill
  int err = 0;                       // why it is refused inside
  std::string grant;                 // further settings, kNever or kNotPromised
  std::string settings = kWorkspace;
  int outside_err = 0;  // for what cannot succeed on a terminal of ours: proof that it gets further outside
  int signal = 0;       // by which it is ended inside, instead of `err`
  bool root = false;    // outside only root can do it
  int since_abi = 0;    // of Landlock; before that it is not promised, and succeeds inside, too
};
Attempt ForRoot(Attempt attempt);
Attempt SinceAbi(int abi, Attempt attempt);
void PrintTo(const Attempt& attempt, std::ostream* out);

struct EscapeOutcome {
  enum class Kind { kDone, kRefused, kAbsent, kKilled, kNotStarted, kBroken };
  Kind kind = Kind::kBroken;
  int err = 0;     // kRefused
  int signal = 0;  // kKilled
  std::string reason;
  std::string output;
};
std::string ToString(const EscapeOutcome& outcome);

// The settings' members in braces, switched on, with the probes executable.
std::string SettingsText(const World& world, const std::string& members);

SpawnRequest RequestOutside(const World& world, const std::vector<std::string>& command);
SpawnRequest RequestInside(const World& world, const std::vector<std::string>& command,
                           const std::string& members);
EscapeOutcome Perform(const SpawnRequest& request);

// A fixture for tables: INSTANTIATE_TEST_SUITE_P(..., Escape, ValuesIn(kTable), NameOfAttempt).
class Escape : public ::testing::TestWithParam<Attempt> {
 protected:
  void SetUp() override;
  // Inside also as on kernels with older Landlocks.
  void Try(const Attempt& attempt);
  bool HasScopes() const { return abi_ >= 6; }
  bool HasUnixSockets() const { return abi_ >= 9; }

 private:
  bool TryOutside(const Attempt& attempt);
  void TryInside(const Attempt& attempt, int abi);
  void TryGranted(const Attempt& attempt);

  int abi_ = 0;
};

std::string NameOfAttempt(const ::testing::TestParamInfo<Attempt>& info);

}  // namespace spty
