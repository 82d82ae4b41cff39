// A pump's source with a pipe, to see what it is told.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>

#include "pty/pump.h"
#include "support/descriptors.h"

namespace spty {

// A pipe whose reading end is watched.
class PipeSource : public Pump::Source {
 public:
  void OnReady() override {
    ++ready;
    if (on_ready) on_ready();
  }
  void OnDeadline() override {
    ++deadlines;
    if (on_deadline) on_deadline();
  }
  void Poke() { EXPECT_EQ(write(pipe.writing.get(), "x", 1), 1); }
  QuickPipe pipe;
  Pump::Token token = 0;
  std::function<void()> on_ready;
  std::function<void()> on_deadline;
  std::atomic<int> ready = 0;
  std::atomic<int> deadlines = 0;
};

inline std::shared_ptr<PipeSource> AddPipe(Pump& pump) {
  auto source = std::make_shared<PipeSource>();
  EXPECT_TRUE(pump.Add(source->pipe.reading.get(), source, &source->token).ok());
  return source;
}

}  // namespace spty
