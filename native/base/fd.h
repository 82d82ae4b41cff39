// An owned file descriptor. The only place in native/ that closes one. Also part of the keeper: no C++
// library here.
#pragma once

namespace spty {

class Fd {
 public:
  Fd() = default;
  // Takes ownership of `fd`; a negative number means none.
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.Take()) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      Reset();
      fd_ = other.Take();
    }
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { Reset(); }

  bool valid() const { return fd_ >= 0; }
  int get() const { return fd_; }
  // Gives up ownership.
  [[nodiscard]] int Take() {
    int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void Reset();

 private:
  int fd_ = -1;
};

// Moves a descriptor that landed on 0, 1 or 2 (the host had closed its stdio) to 3 or above, CLOEXEC. Later
// steps dup2 onto 0-2 and must not find one of ours there. Invalid, with errno set, if that fails.
Fd AboveStdio(Fd fd);

}  // namespace spty
