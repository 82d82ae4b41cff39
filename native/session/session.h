// One terminal session: the only place where PTY, keeper and pump come together.
//
// Threads: the host thread (whoever called Spawn) owns the session and makes all calls but OnReady and the
// like, which run on the pump. A session that has ended stays until the host has taken everything it left.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pty/pty_pair.h"
#include "pty/pump.h"
#include "pty/terminal_io.h"
#include "session/prepared_keeper.h"
#include "session/request.h"
#include "session/session_plan.h"
#include "track/process_reader.h"
#include "track/process_ref.h"

namespace spty {

class Session final : public Pump::Source,
                      public TerminalIo::Client,
                      public std::enable_shared_from_this<Session> {
 public:
  // What the host wants to hear. Called on the pump thread (once on the host's, within Spawn), never after
  // Release.
  class Client {
   public:
    // There may be output to take, an end to see, or room for more input.
    virtual void OnActivity() = 0;

   protected:
    ~Client() = default;
  };

  struct End {
    int code = 0;
    int signal = 0;
  };

  // Starts `request`. On failure nothing is left behind. `pump` outlives every reference but its own; Release
  // comes before it goes. A request that does not wait for exec does not wait for the keeper either: that it
  // could not start a shell is then told like a program that is not there, by a line of output and an end.
  static Result<std::shared_ptr<Session>> Spawn(const SpawnRequest& request, Pump& pump, Client* client);
  // The same with a keeper that runs already.
  static Result<std::shared_ptr<Session>> Spawn(const SpawnRequest& request, PreparedKeeper prepared,
                                                Pump& pump, Client* client);

  // Use Spawn. (Public for make_shared.)
  Session(PtyPair pty, KeeperProcess keeper, Pump& pump);
  // If the pump went first: sees to the end of the session itself, for a second at most.
  ~Session() override;

  // The shell's number. Waits for the keeper to tell it, where Spawn did not; an error if there is no shell.
  Result<pid_t> Pid();
  int master() const { return terminal_.fd(); }
  const std::string& slave_name() const { return slave_name_; }
  // What is enforced, and by what.
  const Enforcement& enforcement() const { return enforcement_; }

  // The oldest output.
  OutputQueue::Taken TakeOutput();
  // How the shell ended, once all its output has been taken.
  std::optional<End> TakeEnd();
  // Whether TakeOutput or TakeEnd has something to give.
  bool has_output() { return terminal_.has_output(); }
  // Whether TakeEnd would tell.
  bool HasEnd();
  bool input_flushed() const { return input_flushed_; }
  // True once after queued input, or most of it, has reached the kernel.
  bool TakeInputFlushed() { return input_flushed_.exchange(false); }

  // Never blocks. What the kernel does not take now is written as the child reads.
  InputQueue::Flushed Write(std::string_view bytes) { return terminal_.Write(bytes); }
  size_t queued_input() const { return terminal_.queued_input(); }

  Result<void> Resize(const WindowSize& size);
  // To the shell itself. False if it has ended; a number that was its own is never signalled again.
  bool Signal(int number);
  // argv[0] of the foreground job; "" before the program has replaced the keeper's child, and after the end.
  std::string ForegroundProgram() const;

  // Hangs up: stops all traffic and closes the master, which sends SIGHUP to the shell. Its end is still
  // reported.
  void HangUp();
  // Tells the keeper to end every process of the session, and sees to it that it does. Any thread, any number
  // of times.
  void EndNow();
  enum class Proof { kPending, kEmpty };
  // Whether nobody of the session is left: the keeper's last word, or, if somebody killed the keeper, that of
  // the cgroup, whose members are then killed here. Any thread.
  Proof ProveEmpty();
  bool shell_ended() const;
  bool keeper_gone() const;
  // Gone before it could say that nobody was left.
  bool keeper_lost() const;
  // Whether that was us: it had been stopped, and could not be made to do its work.
  bool keeper_killed() const;
  // Of the first thing that could not be removed after the keeper was gone, or 0.
  int clean_err() const { return clean_err_; }
  // How the keeper ended the session, once it has.
  std::optional<wire::Done> done() const;
  // The same a little earlier, once nobody is left but files are still to be removed.
  std::optional<wire::Done> emptied() const;
  bool has_cgroup() const { return cgroup_.has_value(); }
  // Whether the keeper ends everybody in it in one stroke.
  bool killed_by_cgroup() const { return cgroup_ && cgroup_->kill() >= 0; }
  // Whether the keeper has proven that it reaches the whole session, and nobody else, in one stroke. It tells
  // that with the shell's number.
  bool scoped() const { return scoped_; }
  // Whether that can still come.
  bool scope_pending() { return expects_scope_ && !start_known(); }
  // Whether it is known. Of a session that never came to be it never is.
  bool scope_known();
  // Whether it has not come, although it could have, and there is no cgroup to do without it.
  bool found_weak();
  bool start_known();
  // macOS: whether the session's processes are told by its Seatbelt profile.
  bool marked() const { return !mark_.empty(); }
  // Why the session is not ended by a cgroup; "" if it is.
  const std::string& no_cgroup() const { return no_cgroup_; }
  // What became of the session if its keeper was killed; outlives the session.
  enum class Loss { kNone, kEnded, kUnknown };
  std::shared_ptr<const std::atomic<Loss>> loss() const { return loss_; }
  // How often limits were hit since the last call.
  LimitHits TakeHits();
  bool has_hits() const;
  // Pump thread: the counters of the cgroup may have changed.
  void LookAtLimits();
  // Everybody who belongs to the session now.
  std::vector<ProcessInfo> Members(ProcessReader& reader) const;
  // Called when the shell has ended and when the keeper is gone; on the pump.
  void SetEndListener(std::function<void()> listener);

  // The host is done. No callback follows; whatever still runs is ended by the keeper, and the pump reaps
  // that.
  void Release();

  // Pump thread: the control socket.
  void OnReady() override;
  // Pump thread: time to look after the end.
  void OnDeadline() override;
  // Pump thread: the terminal.
  void OnOutput() override;
  void OnOutputEnd() override;
  void OnInputFlushed() override;

 private:
  static Result<std::shared_ptr<Session>> Spawn(const SpawnRequest& request, Enforcement enforcement,
                                                PtyPair pty, KeeperProcess keeper, Pump& pump,
                                                Client* client);
  Result<void> HandOver(const SpawnRequest& request, SessionPlan plan);
  Result<void> Watch();
  bool ProveByCgroup();
  Result<void> WatchLimits();
  void ForgetLimits();  // on the pump
  std::shared_ptr<TerminalIo> SharedTerminal();
  void HandleFrame(const Frame& frame);
  void HandleFailure(const wire::Failed& failed);
  void ShowFailure(const Error& error);
  void HandleKeeperGone(const Error& reason);
  void ExpectStart();
  void UrgeStart();
  void ProlongStart();
  void NoteStart(const wire::Started& started);
  // False if it is known already how the start went.
  bool NoteNoStart(const Error& error);
  void ExpectEnd();
  void UrgeKeeper();
  void Settle();
  bool NothingToProve() const;
  void RemoveTempDir();
  void ShellEnded(End end);
  void Attach(Client* client);
  void Tell();
  void TellEnd();

  std::string slave_name_;
  TerminalIo terminal_;
  KeeperProcess keeper_;
  Pump& pump_;
  std::mutex start_mutex_;
  std::condition_variable start_known_;
  std::optional<Result<pid_t>> start_;  // guarded by start_mutex_: the shell's number, or why there is none
  std::atomic<bool> scoped_{false};
  bool expects_scope_ = false;
  std::optional<StartSubjects> late_subjects_;  // of a start that was not waited for, but could have been
  Enforcement enforcement_;
  std::optional<CgroupLeaf> cgroup_;
  std::string no_cgroup_;
  std::string mark_;
  std::string temp_dir_;
  bool keep_alive_ = false;
  std::shared_ptr<std::atomic<Loss>> loss_ = std::make_shared<std::atomic<Loss>>(Loss::kNone);

  std::atomic<bool> input_flushed_{false};
  std::atomic<bool> hung_up_{false};
  mutable std::mutex end_mutex_;
  std::optional<End> end_;              // guarded by end_mutex_: how the shell ended
  bool output_complete_ = false;        // guarded by end_mutex_
  std::optional<wire::Done> done_;      // guarded by end_mutex_
  std::optional<wire::Done> emptied_;   // guarded by end_mutex_
  bool keeper_gone_ = false;            // guarded by end_mutex_
  bool keeper_killed_ = false;          // guarded by end_mutex_: by us, as it did not do its work
  std::function<void()> end_listener_;  // guarded by client_mutex_

  std::mutex cgroup_mutex_;  // held while the cgroup is proven empty and removed, from whatever thread
  bool settled_ = false;     // what the keeper left is gone
  int removals_ = 0;
  // Of the private temporary directory, once nobody is left. Shared with the thread that does it.
  struct Removal {
    std::atomic<int> err{0};
    std::atomic<bool> over{false};
  };
  std::shared_ptr<Removal> removal_;
  std::atomic<int> clean_err_{0};

  std::mutex client_mutex_;  // held while the client is called, so that Release can be sure it is not
  Client* client_ = nullptr;

  mutable std::mutex hits_mutex_;
  LimitHits hits_;        // guarded by hits_mutex_: as last seen
  LimitHits taken_hits_;  // guarded by hits_mutex_

  Pump::Token pids_token_ = 0;
  Pump::Token memory_token_ = 0;
  Pump::Token control_token_ = 0;  // set by Spawn, before the pump can know of us
  // Pump thread only.
  Clock::time_point start_by_{};        // when a keeper that has not told of its start has failed
  bool expects_end_ = false;            // the deadline is for that
  std::chrono::milliseconds pause_{0};  // until the next look after the end
};

}  // namespace spty
