// The keeper as the subreaper of its session, and what it holds by /proc's names.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

#include "support/keeper_host.h"
#include "support/processes.h"
#include "support/temp_dir.h"
#include "support/terminal.h"
#include "track/cgroup.h"

namespace spty {
namespace {

TEST(Keeper, EndsDaemonsThatForkedTwiceInASessionOfTheirOwn) {
  TestTerminal terminal;
  KeeperHost host;
  Plan plan = ShellPlan("\"$0\"; \"$0\"; echo ready; exec sleep 1000");
  plan.argv.push_back(std::string(SPTY_PROBE_DIR) + "/daemonize");
  pid_t shell = host.Start(plan, terminal.slave());
  std::string output = terminal.ReadUntil("ready\n");
  std::vector<pid_t> daemons;
  std::istringstream lines(output);
  for (std::string word; lines >> word;) {
    if (word == "daemon" && lines >> word) daemons.push_back(std::stoi(word));
  }
  ASSERT_EQ(daemons.size(), 2U) << output;
  for (pid_t daemon : daemons) {
    EXPECT_TRUE(IsRunning(daemon));
    EXPECT_NE(getsid(daemon), getsid(shell));
    // The subreaper has them.
    EXPECT_TRUE(Eventually([&] { return ParentOf(daemon) == host.pid(); }));
  }
  host.Hang();
  EXPECT_EQ(host.Wait(), 0);
  for (pid_t daemon : daemons) EXPECT_FALSE(IsRunning(daemon));
  EXPECT_FALSE(IsRunning(shell));
}

TEST(Keeper, EndsAFamilyThatKeepsForking) {
  TestTerminal terminal;
  KeeperHost host;
  // Each generation ignores signals, leaves one child behind and dies; the orphans come to the keeper.
  pid_t shell = host.Start(ShellPlan("trap '' HUP INT TERM; spread() { (spread &) ; }; i=0; "
                                     "while [ $i -lt 30 ]; do (trap '' HUP; (sleep 1000 & sleep 1000) &); "
                                     "i=$((i+1)); done; echo ready; exec sleep 1000"),
                           terminal.slave());
  terminal.ReadUntil("ready\n");
  ASSERT_TRUE(Eventually([&] { return ChildrenOf(host.pid()).size() >= 31; }));
  std::vector<pid_t> family = ChildrenOf(host.pid());
  for (pid_t member : std::vector<pid_t>(family)) {
    for (pid_t child : ChildrenOf(member)) family.push_back(child);
  }
  host.Hang();
  EXPECT_EQ(host.Wait(), 0);
  for (pid_t member : family) EXPECT_FALSE(IsRunning(member));
  EXPECT_FALSE(IsRunning(shell));
}

TEST(Keeper, ReapsWhatComesBackToItWhileTheShellRuns) {
  TestTerminal terminal;
  KeeperHost host;
  pid_t shell =
      host.Start(ShellPlan("i=0; while [ $i -lt 50 ]; do (true &); i=$((i+1)); done; echo ready; read line"),
                 terminal.slave());
  terminal.ReadUntil("ready\n");
  EXPECT_TRUE(Eventually([&] { return ChildrenOf(host.pid()) == std::vector<pid_t>{shell}; }));
}

// What a host that dies in the middle of a spawn leaves behind: a directory and a cgroup that nothing has run
// in.
class ReservedPlaces {
 public:
  ReservedPlaces() {
    auto place = CgroupPlace::Own();
    if (place.ok()) place_ = place.value();
  }
  ~ReservedPlaces() {
    if (place_ != nullptr) (void)unlinkat(place_->dir(), cgroup_.c_str(), AT_REMOVEDIR);
  }
  ReservedPlaces(const ReservedPlaces&) = delete;
  ReservedPlaces& operator=(const ReservedPlaces&) = delete;
  // The keeper hears of each before it is made.
  void AnnounceAndMake(KeeperHost& host) {
    host.Send(KeeperHost::ReservationFrame({directory(), ""}, 0));
    ASSERT_EQ(mkdir(directory().c_str(), 0700), 0);
    if (place_ == nullptr) return;
    host.Send(KeeperHost::ReservationFrame({"", cgroup_}, 1), {place_->dir()});
    ASSERT_EQ(mkdirat(place_->dir(), cgroup_.c_str(), 0755), 0);
  }
  std::string directory() const { return dir_.File("private"); }
  bool DirectoryExists() const { return access(directory().c_str(), F_OK) == 0; }
  bool CgroupExists() const {
    return place_ != nullptr && faccessat(place_->dir(), cgroup_.c_str(), F_OK, 0) == 0;
  }
  bool has_cgroup() const { return place_ != nullptr; }

 private:
  TempDir dir_;
  std::shared_ptr<const CgroupPlace> place_;
  const std::string cgroup_ = CgroupLeaf::NewName();
};

TEST(Keeper, RemovesWhatWasReservedForASessionThatNeverCame) {
  const std::string plan = KeeperHost::PlanFrame(ShellPlan("exit 0"));
  // Before the plan, within its header, and within the rest of it.
  for (const size_t sent : {size_t{0}, size_t{5}, plan.size() - 1}) {
    TestTerminal terminal;
    ReservedPlaces places;
    KeeperHost host;
    places.AnnounceAndMake(host);
    EXPECT_TRUE(places.DirectoryExists());
    EXPECT_EQ(places.CgroupExists(), places.has_cgroup());
    if (sent > 0) host.Send(plan.substr(0, sent), {terminal.slave()});
    host.Hang();
    EXPECT_TRUE(WIFEXITED(host.Wait())) << sent;
    EXPECT_FALSE(places.DirectoryExists()) << sent;
    EXPECT_FALSE(places.CgroupExists()) << sent;
  }
}

TEST(Keeper, LeavesAReservedDirectoryThatSomebodyUses) {
  ReservedPlaces places;
  KeeperHost host;
  places.AnnounceAndMake(host);
  const Fd file(open((places.directory() + "/file").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  host.Hang();
  EXPECT_TRUE(WIFEXITED(host.Wait()));
  EXPECT_TRUE(places.DirectoryExists());
  EXPECT_FALSE(places.CgroupExists());
}

TEST(Keeper, HoldsNothingOfTheHostsAndNothingOfTheTerminal) {
  TestTerminal terminal;
  // What a careless host would leave to every child.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Fd leaky_read(ends[0]);
  Fd leaky_write(ends[1]);
  Fd leaky_high(fcntl(ends[0], F_DUPFD, 700));
  std::string pipe_name = OwnDescriptors()[ends[0]];
  KeeperHost host;
  pid_t shell = host.Start(ShellPlan("echo ready; read line"), terminal.slave());
  terminal.ReadUntil("ready\n");
  auto held = DescriptorsOf(host.pid());
  EXPECT_EQ(held[0], "/dev/null");
  EXPECT_EQ(held[1], "/dev/null");
  EXPECT_EQ(held[2], "/dev/null");
  EXPECT_EQ(held[3].rfind("socket:", 0), 0U) << held[3];
  // The control socket and the pipe with which it hears of its children.
  EXPECT_EQ(held.size(), 6U);
  for (const auto& [fd, target] : held) {
    EXPECT_EQ(target.find("/dev/pts"), std::string::npos) << fd;
    EXPECT_EQ(target.find("ptmx"), std::string::npos) << fd;
    EXPECT_NE(target, pipe_name) << fd;
  }
  // The shell has the terminal, or the above would say nothing.
  EXPECT_EQ(DescriptorsOf(shell)[0], terminal.name());
}

}  // namespace
}  // namespace spty
