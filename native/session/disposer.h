// Ends sessions, off the host's thread. One thread serves all that are being disposed of at a time, and is
// only there while there are some. Not one of libuv's pool: Node waits for those before it says that an
// environment ends, and process.exit() would last as long as the longest grace.
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "track/process_ref.h"

namespace spty {

class Session;

struct DisposeOptions {
  int signal = 0;  // sent first, if `grace` is not zero
  std::chrono::milliseconds grace{0};
  std::chrono::milliseconds deadline{5000};  // how long to wait for the proof, grace not included
};

struct DisposeReport {
  bool converged = false;
  uint32_t rounds = 0;
  uint32_t killed = 0;
  std::vector<ProcessInfo> survivors;
  double elapsed_ms = 0;
  std::vector<std::string> mechanisms;
  // What else went wrong: the keeper was killed, a directory could not be removed.
  std::string problem;
};

std::string DisposeReportToJson(const DisposeReport& report);
// For a session that is gone, but whose keeper was killed before it could say that nobody was left.
DisposeReport LossReport(bool ended);

class Disposer {
 public:
  using Done = std::function<void(DisposeReport)>;

  Disposer() = default;
  ~Disposer() { Abort(); }
  Disposer(const Disposer&) = delete;
  Disposer& operator=(const Disposer&) = delete;

  // `done` is called from the thread. An error if there is none to be had: then the session is ended all the
  // same, but `done` is not called.
  Result<void> Add(std::shared_ptr<Session> session, const DisposeOptions& options, Done done);
  // Something may have changed.
  void Wake();
  // Lets go of everything: the sessions are ended all the same, but nobody is told. The thread is gone
  // afterwards.
  void Abort();

 private:
  // Works until nothing is left to do.
  void Run();
  Result<void> StartThread();  // with mutex_ held
  using Clock = std::chrono::steady_clock;
  struct Disposal {
    std::shared_ptr<Session> session;
    DisposeOptions options;
    Done done;
    Clock::time_point began;
    Clock::time_point grace_ends;
    bool ending = false;  // grace is over, the keeper was told
    Clock::time_point deadline;
  };

  // True if it is over; fills the report.
  static bool Step(Disposal& disposal, DisposeReport* report);
  static DisposeReport Summary(const Disposal& disposal, bool converged);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Disposal> waiting_;
  bool running_ = false;
  bool woken_ = false;
  bool aborted_ = false;
  pthread_t thread_{};
  bool started_ = false;  // thread_ is to be joined
};

}  // namespace spty
