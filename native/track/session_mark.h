// macOS: the directory by whose name every process of a session can be told from all others. A Seatbelt
// profile that allows reading "allow" in it and denies "deny" belongs to this session and to no other.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace spty {

class SessionMark {
 public:
  // A directory with a name that was never used, <place>/.sandboxed-pty-<uuid>, with "allow" in it; "deny" is
  // never made. {mark, err, path}
  static Result<SessionMark> Create(const std::string& place = "/tmp");
  SessionMark(SessionMark&& other) noexcept;
  SessionMark& operator=(SessionMark&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(owned_, other.owned_);
    return *this;
  }
  // Removes it, unless somebody else does by now.
  ~SessionMark();

  const std::string& path() const { return path_; }
  // The keeper has taken over, and removes it once nobody is left who has it.
  void LeaveToKeeper() { owned_ = false; }

 private:
  explicit SessionMark(std::string path) : path_(std::move(path)) {}
  std::string path_;
  bool owned_ = true;
};

}  // namespace spty
