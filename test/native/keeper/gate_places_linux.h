// Three places for sockets, and what can be expected of a connect to one.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "keeper/gate_harness_linux.h"
#include "support/temp_dir.h"

namespace spty {

// project/ is the session's; shared/ is writable to it but grants nothing; outside/ is not writable.
class GatePlacesTest : public testing::TestWithParam<uid_t> {
 protected:
  GatePlacesTest() {
    for (const char* name : {"project", "shared", "outside"}) {
      EXPECT_EQ(mkdir(dir_.File(name).c_str(), 0755), 0);
    }
    GiveAway("project");
    EXPECT_EQ(chmod(dir_.File("shared").c_str(), 0777), 0);
    setup_.directories = {dir_.File("project")};
    setup_.keeper_uid = GetParam();
  }

  std::string In(const std::string& name) const { return dir_.File(name); }

  void GiveAway(const std::string& name) {
    int result = getuid() == 0 ? chown(In(name).c_str(), GetParam(), GetParam()) : 0;
    EXPECT_EQ(result, 0) << name;
  }

  // `name` cannot be connected to from inside, but can from outside.
  void ExpectRefused(const std::string& name, int err = EACCES, int type = SOCK_STREAM) {
    EXPECT_EQ(InGate(setup_, [=]() -> std::string { return ExpectErrno(TryConnect(name, type), err); }), "");
    EXPECT_EQ(WithoutGate(setup_, [=]() -> std::string { return ExpectErrno(TryConnect(name, type), 0); }),
              "");
  }

  void ExpectAllowed(const std::string& name, int type = SOCK_STREAM) {
    EXPECT_EQ(InGate(setup_, [=]() -> std::string { return ExpectErrno(TryConnect(name, type), 0); }), "");
  }

  static std::string ExpectErrno(int actual, int expected) {
    if (actual == expected) return "";
    return std::string("got \"") + strerror(actual) + "\" instead of \"" + strerror(expected) + "\"";
  }

  TempDir dir_;
  GateSetup setup_;
};

}  // namespace spty
