#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>

#include "base/fd.h"
#include "support/temp_dir.h"
#include "track/cgroup_limits.h"

namespace spty {
namespace {

// Plain files stand in for those of the controllers, which few machines delegate.
class ApplyLimitsTest : public testing::Test {
 protected:
  void Make(const std::vector<std::string>& names) {
    for (const std::string& name : names) dir_.Write(name, "");
  }
  std::string Applied(const CgroupLimits& limits) {
    const Fd dir(open(dir_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const auto applied = ApplyLimits(dir.get(), dir_.path(), limits);
    return applied.ok() ? "" : ErrnoName(applied.error().err) + " " + applied.error().subject;
  }
  std::string Text(const std::string& name) {
    std::ifstream file(dir_.File(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TempDir dir_;
};

TEST_F(ApplyLimitsTest, WritesWhatTheKernelReads) {
  Make({"pids.max", "memory.max", "memory.swap.max", "memory.oom.group", "cpu.max"});
  EXPECT_EQ(Applied({64, 50'000'000, 150}), "");
  EXPECT_EQ(Text("pids.max"), "64");
  EXPECT_EQ(Text("memory.max"), "50000000");
  EXPECT_EQ(Text("memory.swap.max"), "0");
  EXPECT_EQ(Text("memory.oom.group"), "1");
  EXPECT_EQ(Text("cpu.max"), "150000 100000");
}

TEST_F(ApplyLimitsTest, CountsProcessorTimeInPartsOfATenthOfASecond) {
  const std::pair<double, const char*> cases[] = {
      {100, "100000 100000"},
      {50, "50000 100000"},
      {12.5, "12500 100000"},
      {400, "400000 100000"},
      // The kernel takes no less than a millisecond.
      {0.01, "1000 100000"},
  };
  for (const auto& [percent, text] : cases) {
    Make({"cpu.max"});
    EXPECT_EQ(Applied({std::nullopt, std::nullopt, percent}), "");
    EXPECT_EQ(Text("cpu.max"), text) << percent;
  }
}

// It would succeed for some controllers, and nobody could enter any cgroup below it any more.
TEST_F(ApplyLimitsTest, HandsNothingDownWhereProcessesAre) {
  CgroupLimits limits;
  limits.processes = 5;
  const auto offered = [&] {
    const Fd dir(open(dir_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return OfferControllers(dir.get(), dir_.path(), limits).ok();
  };
  Make({"cgroup.type", "cgroup.subtree_control"});
  dir_.Write("cgroup.procs", "1\n");
  EXPECT_FALSE(offered());
  EXPECT_EQ(Text("cgroup.subtree_control"), "");
  dir_.Write("cgroup.procs", "");
  EXPECT_FALSE(offered()) << "a plain file does not become a list of controllers";
  EXPECT_EQ(Text("cgroup.subtree_control"), "+pids");
}

TEST_F(ApplyLimitsTest, TouchesNothingThatNobodyAskedFor) {
  Make({"pids.max", "memory.max", "memory.swap.max", "memory.oom.group", "cpu.max"});
  EXPECT_EQ(Applied({}), "");
  EXPECT_EQ(Applied({std::nullopt, std::nullopt, 100}), "");
  for (const char* name : {"pids.max", "memory.max", "memory.swap.max", "memory.oom.group"})
    EXPECT_EQ(Text(name), "") << name;
}

TEST_F(ApplyLimitsTest, NamesTheFileWhoseControllerIsMissing) {
  for (const auto& [limits, file] : {std::pair<CgroupLimits, const char*>{{64, {}, {}}, "pids.max"},
                                     {{{}, 1 << 30, {}}, "memory.max"},
                                     {{{}, {}, 50}, "cpu.max"}}) {
    const std::string refusal = Applied(limits);
    EXPECT_TRUE(refusal.starts_with("ENOTSUP " + dir_.File(file))) << refusal;
    EXPECT_FALSE(std::filesystem::exists(dir_.File(file)));
  }
  // Swap and the group kill are not everywhere; the limit itself is.
  Make({"memory.max"});
  EXPECT_EQ(Applied({{}, 1000, {}}), "");
  EXPECT_EQ(Text("memory.max"), "1000");
}

}  // namespace
}  // namespace spty
