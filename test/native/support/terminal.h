// A terminal whose master a test reads itself, without the pump.
#pragma once

#include <string>

#include "pty/pty_pair.h"

namespace spty {

class TestTerminal {
 public:
  TestTerminal();

  int master() const { return pair_.master.get(); }
  int slave() const { return pair_.slave.get(); }
  const std::string& name() const { return pair_.slave_name; }
  Fd TakeMaster() { return std::move(pair_.master); }
  Fd TakeSlave() { return std::move(pair_.slave); }
  void CloseSlave() { pair_.slave.Reset(); }
  void CloseMaster() { pair_.master.Reset(); }

  // No echo, no line editing, no change to what is written.
  void MakeRaw();
  // Everything up to and including `text`; what came instead, if it does not come. Carriage returns are left
  // out.
  std::string ReadUntil(const std::string& text);
  // Everything until nobody has the slave open any more.
  std::string ReadToEnd();
  // What is there now; the kernel has flushed its buffers before it says that there is no more.
  std::string ReadNow();
  void Write(const std::string& text);

 private:
  std::string ReadWhile(const std::string* until);
  PtyPair pair_;
  std::string unread_;
};

}  // namespace spty
