// The pump: one thread for all sessions of the process. It waits for their descriptors, runs what is posted
// to it and keeps one deadline per source. Sources live on this thread: their callbacks never run anywhere
// else.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "pty/poller.h"

namespace spty {

class Pump {
 public:
  class Source {
   public:
    virtual ~Source() = default;
    // Something changed on the descriptor: read and write until EAGAIN.
    virtual void OnReady() = 0;
    // The deadline set with SetDeadline has passed.
    virtual void OnDeadline() {}
  };
  using Token = uint64_t;

  // The process's pump, started if need be. It ends, and its thread is joined, when the last owner lets go;
  // that must not happen on the pump's own thread.
  static Result<std::shared_ptr<Pump>> Acquire();
  ~Pump();
  Pump(const Pump&) = delete;
  Pump& operator=(const Pump&) = delete;

  // Runs `task` on the pump thread, in the order of posting. From any thread.
  void Post(std::function<void()> task);
  // The same for what has time: when the pump has anything else to do, or after that time.
  void PostWithin(Clock::duration time, std::function<void()> task);
  // The same, and waits until it has run. Never from the pump thread.
  void Run(std::function<void()> task);

  // Watches `fd` for `source`, which is kept alive until Remove. From any thread; `token` is set before the
  // first callback can run.
  Result<void> Add(int fd, std::shared_ptr<Source> source, Token* token);

  // Whether the source also hears that its descriptor takes data again. Off at first: a terminal says so each
  // time that its child reads a keystroke. From any thread; an unknown token is ignored.
  void WatchWrites(Token token, bool wanted);

  // Only on the pump thread. Remove: `fd` is still open; no callback follows. An unknown token is ignored.
  void Remove(Token token);
  void SetDeadline(Token token, std::optional<Clock::time_point> when);
  // Whether other sources wait for their turn right now.
  bool crowded() const { return crowded_; }
  // Calls the source's OnReady once more, after the others had their turn.
  void Again(Token token);

 private:
  struct Entry {
    int fd;
    std::shared_ptr<Source> source;
    std::optional<Clock::time_point> deadline;
  };

  explicit Pump(Poller poller);
  Result<void> Start();
  void Loop();
  bool RunPosted();
  void RunAgain();
  std::shared_ptr<Source> Find(Token token) const;
  void RunDeadlines();
  std::optional<Clock::time_point> NextDeadline() const;
  void SetDeadlineLocked(Entry* entry, std::optional<Clock::time_point> when);

  Poller poller_;
  mutable std::mutex mutex_;  // guards what follows; never held during a callback
  std::vector<std::function<void()>> posted_;
  bool woken_ = false;                        // for these
  std::optional<Clock::time_point> wake_at_;  // the same, later
  bool stopping_ = false;
  std::unordered_map<Token, Entry> entries_;
  Token next_token_ = 1;
  size_t deadlines_ = 0;
  std::vector<Token> again_;  // pump thread only
  bool crowded_ = false;      // pump thread only
  pthread_t thread_{};
  bool started_ = false;
};

}  // namespace spty
