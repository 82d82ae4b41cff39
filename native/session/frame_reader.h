// Reads the keeper's frames from the control socket, whole ones only, without ever blocking.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "keeper/wire.h"

namespace spty {

struct Frame {
  wire::Type type;
  union {
    wire::Started started;
    wire::Failed failed;
    wire::Exited exited;
    wire::Features features;
    wire::Done done;
  };
};

class FrameReader {
 public:
  enum class Status { kFrame, kNothing, kClosed };

  // kFrame: *frame holds the next one. kNothing: none is complete yet. kClosed: the keeper is gone. An error
  // for anything that is not a frame of this version.
  Result<Status> Next(int control, Frame* frame);

 private:
  static constexpr size_t kLongest = sizeof(wire::Header) + sizeof(wire::Failed);
  Result<size_t> Needed() const;

  char bytes_[kLongest];
  size_t size_ = 0;
};

}  // namespace spty
