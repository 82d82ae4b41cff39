// Rules around what is protected, asked for as a host does it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include "base/fd.h"
#include "confine/landlock_rights.h"
#include "confine/landlock_ruleset.h"
#include "keeper/around.h"
#include "keeper/around_requests.h"
#include "keeper/plan.h"
#include "policy/scratch.h"

namespace spty {

inline bool CanRead(const std::string& path) { return Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC)).valid(); }
inline bool CanWrite(const std::string& path) { return Fd(open(path.c_str(), O_WRONLY | O_CLOEXEC)).valid(); }
inline bool CanMake(const std::string& path) { return mkdir(path.c_str(), 0700) == 0; }

class RulesAroundTest : public ::testing::Test {
 protected:
  void SetUp() override {
    abi_ = static_cast<int>(syscall(landlock::kCreateRuleset, nullptr, 0, landlock::kQueryVersion));
    if (abi_ < 1) GTEST_SKIP() << "needs Landlock";
  }

  LandlockRuleset Ruleset() const {
    landlock::RulesetAttr attr;
    attr.handled_fs = LandlockRights(abi_).handled_fs;
    auto ruleset = LandlockRuleset::Create(attr);
    EXPECT_TRUE(ruleset.ok());
    return std::move(ruleset).value();
  }

  // A letter (-: closed, r: may be read) and the path, as it is now.
  RulesAround::Hole Hole(const std::string& hole) const {
    RulesAround::Hole place{hole.substr(1), {}};
    place.what.read_only = hole[0] == 'r' ? 1 : 0;
    struct stat info;
    if (lstat(place.path.c_str(), &info) != 0) return place;
    place.what.device = info.st_dev;
    place.what.inode = info.st_ino;
    place.what.state = wire::kWasOnlyThere;
    return place;
  }

  // Of a directory that may be read and written.
  RulesAround Request(const std::string& directory, const std::vector<std::string>& holes) const {
    const LandlockRights rights(abi_);
    RulesAround around;
    const auto fill = [&](wire::AroundRight kind, Rights granted) {
      around.rights[kind] = rights.For(granted, FileType::kDirectory);
      around.rights[kind + 1] = rights.For(granted, FileType::kFile);
    };
    fill(wire::kAsGranted, Rights::kReadWrite);
    fill(wire::kForReading, Rights::kReadExecute);
    fill(wire::kOfKernel, Rights::kRead);
    around.path = directory;
    for (const std::string& hole : holes) around.holes.push_back(Hole(hole));
    return around;
  }

  int Add(int ruleset, const std::vector<RulesAround>& requests, std::string* failed = nullptr,
          size_t room = 4096) const {
    AroundRequests kept;
    for (const RulesAround& request : requests) {
      const std::string frame = EncodeAround(request).value();
      if (int err = kept.Add(static_cast<uint32_t>(frame.size())); err != 0) return err;
      memcpy(kept.payload(), frame.data(), frame.size());
      if (int err = kept.Complete(open(request.path.c_str(), O_PATH | O_CLOEXEC)); err != 0) return err;
    }
    std::string text(room, '?');
    const int err = AddRulesAround(ruleset, kept.first(), {Look, Tell, &told_}, text.data(),
                                   failed == nullptr ? 0 : room);
    if (failed != nullptr) *failed = text.c_str();
    return err;
  }

  int Add(int ruleset, const std::string& directory, const std::vector<std::string>& holes,
          std::string* failed = nullptr, size_t room = 4096) const {
    return Add(ruleset, {Request(directory, holes)}, failed, room);
  }

  // Into a domain of these rules.
  bool Enter(const std::string& directory, const std::vector<std::string>& holes) const {
    const LandlockRuleset ruleset = Ruleset();
    return Add(ruleset.fd(), directory, holes) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(landlock::kRestrictSelf, ruleset.fd(), 0) == 0;
  }

  struct Told {
    int times = 0;
    int answer = 0;
    int looks = 0;
    std::function<int()> look = [] { return 0; };
  };
  static int Look(void* context) {
    auto* told = static_cast<Told*>(context);
    ++told->looks;
    return told->look();
  }
  static int Tell(void* context) {
    auto* told = static_cast<Told*>(context);
    ++told->times;
    return told->answer;
  }

  int abi_ = 0;
  mutable Told told_;
  Scratch scratch_;
};

}  // namespace spty
