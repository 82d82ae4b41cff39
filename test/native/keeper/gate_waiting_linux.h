// Connects that block, and those who make them.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>

#include "keeper/gate_harness_linux.h"
#include "support/processes_linux.h"
#include "support/temp_dir.h"

namespace spty {

// Whether a thread is inside connect(2), be it with the kernel or with the gate.
inline bool IsConnecting(pid_t process, pid_t thread) {
  std::ifstream file("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/syscall");
  long number = -1;
  return static_cast<bool>(file >> number) && number == SYS_connect;
}

inline pid_t ThreadId() { return static_cast<pid_t>(syscall(SYS_gettid)); }

inline size_t SocketsOf(pid_t pid) {
  size_t count = 0;
  for (const auto& [fd, target] : DescriptorsOf(pid)) count += target.starts_with("socket:") ? 1 : 0;
  return count;
}

// A thread that makes one blocking connect.
class Connecting {
 public:
  explicit Connecting(const std::string& name)
      : thread_([this, name] {
          id_ = ThreadId();
          result_ = TryConnect(name);
        }) {}
  bool Blocks() {
    return Eventually([this] { return id_ != 0 && IsConnecting(getpid(), id_); });
  }
  int Result() {
    thread_.join();
    return result_;
  }
  bool Signal(int number) { return pthread_kill(thread_.native_handle(), number) == 0; }

 private:
  std::atomic<pid_t> id_ = 0;
  std::atomic<int> result_ = -1;
  std::thread thread_;
};

class GateWaitingTest : public testing::TestWithParam<uid_t> {
 protected:
  GateWaitingTest() {
    EXPECT_EQ(chmod(dir_.path().c_str(), 0777), 0);
    setup_.directories = {dir_.path()};
    setup_.keeper_uid = GetParam();
    EXPECT_EQ(pipe2(to_client_, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(to_test_, O_CLOEXEC), 0);
  }
  ~GateWaitingTest() override {
    for (int fd : {to_client_[0], to_client_[1], to_test_[0], to_test_[1]}) close(fd);
  }

  // Between the client and the test.
  bool TellTest() { return write(to_test_[1], "x", 1) == 1; }
  bool TellClient() { return write(to_client_[1], "x", 1) == 1; }
  bool HearTest() {
    char byte;
    return read(to_client_[0], &byte, 1) == 1;
  }
  bool HearClient() {
    pollfd watched{to_test_[0], POLLIN, 0};
    char byte;
    return poll(&watched, 1, 60'000) == 1 && read(to_test_[0], &byte, 1) == 1;
  }

  TempDir dir_;
  GateSetup setup_;
  int to_client_[2];
  int to_test_[2];
};

// A socket whose queue is full: the next connect blocks until somebody accepts.
class FullServer {
 public:
  explicit FullServer(const std::string& name) : server_(name, SOCK_STREAM, 0) {
    EXPECT_EQ(TryConnect(name), 0);
  }
  // Lets in whoever comes, `count` of them, after the one that fills the queue.
  void Drain(size_t count) {
    for (size_t i = 0; i < count + 1; ++i) ASSERT_TRUE(server_.Accept().valid());
  }

 private:
  Server server_;
};

}  // namespace spty
