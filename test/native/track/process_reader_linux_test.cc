// Whoever is kept must not make a difference to what is told.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>

#include "support/descriptors.h"
#include "support/in_child.h"
#include "support/limits.h"
#include "support/processes_linux.h"
#include "support/waiting_child.h"
#include "track/process_reader.h"

namespace spty {
namespace {

using Keep = ProcessReader::Keep;
using Strings = std::vector<std::string>;

class KeptFiles : public testing::Test {
 protected:
  KeptFiles() { ProcessReader::MakeRoom(); }
};

class ProcessReaderTest : public testing::TestWithParam<Keep> {
 protected:
  ProcessReaderTest() { ProcessReader::MakeRoom(); }
  ProcessReader reader_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Keeping, ProcessReaderTest, testing::Values(Keep::kNothing, Keep::kFiles),
                         [](const auto& keeping) {
                           return keeping.param == Keep::kFiles ? "Files" : "Nothing";
                         });

// Waits until its parent ends, if nobody ends it before.
[[noreturn]] void WaitWithParent() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) pause();
}

TEST_P(ProcessReaderTest, FindsGrandchildrenAfterTheirParents) {
  const WaitingChild child([] {
    if (fork() == 0) {
      if (fork() == 0) WaitWithParent();
      WaitWithParent();
    }
  });
  std::vector<ProcessInfo> found;
  ASSERT_TRUE(Eventually([&] { return (found = reader_.DescendantsOf(child.pid())).size() == 2; }));
  EXPECT_EQ(found[0].parent, child.pid());
  EXPECT_EQ(found[1].parent, found[0].pid);
  const auto all = reader_.DescendantsOf(getpid());
  EXPECT_TRUE(std::ranges::any_of(all, [&](const auto& one) { return one.pid == found[1].pid; }));
  kill(found[1].pid, SIGKILL);
  kill(found[0].pid, SIGKILL);
  EXPECT_TRUE(WaitForDeath(found[1].pid));
}

// Those of a thread that is not the first, too; of the process itself, and of one below it.
TEST_P(ProcessReaderTest, FindsChildrenOfEveryThread) {
  const WaitingChild child([] {
    std::thread([] {
      if (fork() == 0) WaitWithParent();
      for (;;) pause();
    }).detach();
  });
  std::vector<ProcessInfo> found;
  ASSERT_TRUE(Eventually([&] { return (found = reader_.DescendantsOf(child.pid())).size() == 1; }));
  EXPECT_EQ(found[0].parent, child.pid());
#if !defined(__SANITIZE_THREAD__)  // which has threads of its own
  EXPECT_EQ(ReadProcess(child.pid())->threads, 2U);
#endif
  const auto all = reader_.DescendantsOf(getpid());
  EXPECT_TRUE(std::ranges::any_of(all, [&](const auto& one) { return one.pid == found[0].pid; }));
  kill(found[0].pid, SIGKILL);
  EXPECT_TRUE(WaitForDeath(found[0].pid));
}

// A list of everybody below this process, as text. In a process of its own (InChild): this one may have
// children that other tests have left to be reaped.
Strings ListOf(ProcessReader& reader) {
  Strings list;
  reader.Begin();
  for (const ProcessInfo& process : reader.DescendantsOf(getpid())) {
    std::string line = std::to_string(process.pid) + " " + std::to_string(process.parent) + " " +
                       std::to_string(process.start_ticks) + " " + process.name + " " + process.state;
    for (const std::string& argument : reader.ArgumentsOf(process)) line += " " + argument;
    list.push_back(line);
  }
  return list;
}

// As a list of one.
Strings Arguments(ProcessReader& reader, pid_t pid) {
  reader.Begin();
  const auto info = reader.Read(pid);
  return info ? reader.ArgumentsOf(*info) : Strings{"nobody"};
}

// Until exec is through: where the arguments are is told last.
bool HasBecome(pid_t pid, const Strings& arguments) {
  return Eventually([&] {
    ProcessReader anew(Keep::kNothing);
    return Arguments(anew, pid) == arguments;
  });
}

// The next list is the same, and so is one that is read without files.
TEST_F(KeptFiles, TellTheSameWhileProcessesComeAndGo) {
  const std::string complaint = InChild([]() -> std::string {
    ProcessReader kept(Keep::kFiles);
    std::vector<std::unique_ptr<WaitingChild>> children;
    for (int round = 0; round < 40; ++round) {
      if (round % 3 != 2) children.push_back(std::make_unique<WaitingChild>());
      if (round % 4 == 3) children.erase(children.begin() + round % static_cast<int>(children.size()));
      if (round % 7 == 6) {  // a zombie
        children[0]->Kill();
        CHILD_CHECK(WaitForDeath(children[0]->pid()));
      }
      Strings plain;
      // A new child may still be on its way into its pause.
      CHILD_CHECK(Eventually([&] {
        ProcessReader anew(Keep::kNothing);
        plain = ListOf(anew);
        return ListOf(kept) == plain;
      }));
      CHILD_CHECK(plain.size() == children.size());
    }
    return "";
  });
  EXPECT_EQ(complaint, "");
}

TEST_F(KeptFiles, AreClosed) {
  const std::string complaint = InChild([]() -> std::string {
    const WaitingChild child;
    const auto before = OwnDescriptors();
    ProcessReader reader(Keep::kFiles);
    CHILD_CHECK(ListOf(reader).size() == 1U);
    CHILD_CHECK(OwnDescriptors().size() == before.size() + 2);
    CHILD_CHECK(ListOf(reader).size() == 1U);
    CHILD_CHECK(OwnDescriptors().size() == before.size() + 2);
    reader.Forget();
    CHILD_CHECK(OwnDescriptors() == before);
    {
      WaitingChild other;
      CHILD_CHECK(ListOf(reader).size() == 2U);
      CHILD_CHECK(OwnDescriptors().size() == before.size() + 4);
    }
    // Who was not in the last list is not kept in the next one.
    CHILD_CHECK(ListOf(reader).size() == 1U);
    CHILD_CHECK(ListOf(reader).size() == 1U);
    CHILD_CHECK(OwnDescriptors().size() == before.size() + 2);
    {
      ProcessReader passing(Keep::kFiles);
      CHILD_CHECK(ListOf(passing).size() == 1U);
      CHILD_CHECK(OwnDescriptors().size() == before.size() + 4);
    }
    CHILD_CHECK(OwnDescriptors().size() == before.size() + 2);
    reader.Forget();
    CHILD_CHECK(OwnDescriptors() == before);
    return "";
  });
  EXPECT_EQ(complaint, "");
}

// Whoever opens one more file must not wait either: with many files of its own, too, the host's table does
// not grow by being asked for lists.
TEST_F(KeptFiles, LieBelowWhereTheTableWouldHaveToGrow) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_cur < 2000) GTEST_SKIP() << "needs 2000 descriptors";
  const std::string complaint = InChild([]() -> std::string {
    const auto table_size = [] { return StatusOf(getpid(), "FDSize"); };
    std::vector<Fd> own;
    while (own.size() < 600) {
      own.emplace_back(open("/", O_PATH | O_CLOEXEC));
      CHILD_CHECK(own.back().valid());
    }
    ProcessReader::MakeRoom();
    CHILD_CHECK(ProcessReader::has_room());
    const std::string size = table_size();
    std::vector<std::unique_ptr<WaitingChild>> children;
    for (int i = 0; i < 100; ++i) children.push_back(std::make_unique<WaitingChild>());
    const size_t before = OwnDescriptors().size();
    ProcessReader reader(Keep::kFiles);
    CHILD_CHECK(ListOf(reader).size() == children.size());
    CHILD_CHECK(OwnDescriptors().size() == before + 2 * children.size());
    reader.Forget();
    // Less room than a list needs: what does not fit is read all the same, and opens no gap for others.
    while (own.back().get() < 600 + 2 * static_cast<int>(ProcessReader::kMostKept) - 200) {
      own.emplace_back(open("/", O_PATH | O_CLOEXEC));
      CHILD_CHECK(own.back().valid());
    }
    const size_t more = OwnDescriptors().size();
    for (int i = 0; i < 3; ++i) CHILD_CHECK(ListOf(reader).size() == children.size());
    CHILD_CHECK(OwnDescriptors().size() > more);
    CHILD_CHECK(OwnDescriptors().size() < more + 2 * children.size());
    CHILD_CHECK(table_size() == size);
    return "";
  });
  EXPECT_EQ(complaint, "");
}

// A shortage of the moment is not remembered.
TEST_F(KeptFiles, TellArgumentsAgainOnceThereAreDescriptors) {
  const std::string long_one(9000, 'x');  // read by a file
  Pipe input;
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(input.reading.get(), 0);
    execl("/bin/sh", "sh", "-c", "read line; exit", long_one.c_str(), nullptr);
    _exit(127);
  }
  ASSERT_GT(pid, 0);
  const Strings wanted{"sh", "-c", "read line; exit", long_one};
  EXPECT_TRUE(HasBecome(pid, wanted));
  ProcessReader reader(Keep::kFiles);
  EXPECT_EQ(Arguments(reader, pid), wanted);
  {
    const DescriptorLimit none(0);
    // Kept files need none; the arguments do, when it is their turn.
    unsigned lists = 1;
    while (lists < 100 && !Arguments(reader, pid).empty()) ++lists;
    EXPECT_EQ(lists, ProcessReader::kArgumentsEvery);
  }
  EXPECT_EQ(Arguments(reader, pid), wanted);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

TEST_F(KeptFiles, AreNotInheritedByPrograms) {
  const std::string complaint = InChild([]() -> std::string {
    const WaitingChild child;
    ProcessReader reader(Keep::kFiles);
    const auto before = OwnDescriptors();
    CHILD_CHECK(ListOf(reader).size() == 1U);
    size_t kept = 0;
    for (const auto& [fd, _] : OwnDescriptors()) {
      if (before.contains(fd)) continue;
      ++kept;
      CHILD_CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    }
    CHILD_CHECK(kept == 2U);
    return "";
  });
  EXPECT_EQ(complaint, "");
}

// All readers together, and every list is still whole.
TEST_F(KeptFiles, AreNoMoreThanAnEighthOfWhatThisProcessMayHave) {
  const std::string complaint = InChild([]() -> std::string {
    rlimit limit{};
    CHILD_CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = 80;
    CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    std::vector<std::unique_ptr<WaitingChild>> children;
    for (int i = 0; i < 12; ++i) children.push_back(std::make_unique<WaitingChild>());
    const size_t before = OwnDescriptors().size();
    ProcessReader one(Keep::kFiles);
    ProcessReader two(Keep::kFiles);
    for (int i = 0; i < 3; ++i) {
      CHILD_CHECK(ListOf(one).size() == children.size());
      CHILD_CHECK(ListOf(two).size() == children.size());
      CHILD_CHECK(OwnDescriptors().size() == before + 10);
    }
    // What one gives back another gets.
    one.Forget();
    CHILD_CHECK(ListOf(two).size() == children.size());
    CHILD_CHECK(OwnDescriptors().size() == before + 10);
    two.Forget();
    CHILD_CHECK(OwnDescriptors().size() == before);
    return "";
  });
  EXPECT_EQ(complaint, "");
}

// A child with a number of our choice, which it can only have if that is free.
pid_t ForkWithNumber(pid_t pid) {
  clone_args arguments{};
  arguments.exit_signal = SIGCHLD;
  arguments.set_tid = reinterpret_cast<uintptr_t>(&pid);
  arguments.set_tid_size = 1;
  const auto child = static_cast<pid_t>(syscall(SYS_clone3, &arguments, sizeof arguments));
  if (child == 0) {
    for (;;) pause();
  }
  return child;
}

TEST_F(KeptFiles, DoNotTakeOneForAnotherThatHasItsNumber) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  ProcessReader reader(Keep::kFiles);
  WaitingChild first;
  const pid_t pid = first.pid();
  reader.Begin();
  const auto before = reader.Read(pid);
  ASSERT_TRUE(before);
  first.End();
  pid_t second = 0;
  // Start times are told in ticks: not the same one. And somebody else may have the number for a while.
  ASSERT_TRUE(Eventually([&] {
    second = ForkWithNumber(pid);
    if (second == -1) return errno != EEXIST;
    if (StartTimeOf(second) != before->start_ticks) return true;
    kill(second, SIGKILL);
    waitpid(second, nullptr, 0);
    return false;
  }));
  if (second == -1) GTEST_SKIP() << "needs clone3 with a number of its own choice: " << strerror(errno);
  ASSERT_EQ(second, pid);
  const auto after = reader.Read(pid);
  EXPECT_EQ(after ? after->start_ticks : 0, StartTimeOf(pid));
  EXPECT_NE(StartTimeOf(pid), before->start_ticks);
  kill(second, SIGKILL);
  waitpid(second, nullptr, 0);
}

// Waits for a byte, then does `act`, says so, and waits to be ended.
class ActingChild {
 public:
  explicit ActingChild(const std::function<void()>& act)
      : child_([this, &act] {
          if (fork() != 0) return done_.writing.Reset();
          char byte = 0;
          (void)!read(go_.reading.get(), &byte, 1);
          act();
          (void)!write(done_.writing.get(), "d", 1);
          for (;;) pause();
        }) {
    done_.writing.Reset();
    std::vector<pid_t> children;
    EXPECT_TRUE(Eventually([&] { return !(children = ChildrenOf(child_.pid())).empty(); }));
    if (!children.empty()) pid_ = children[0];
  }
  ~ActingChild() {
    if (pid_ > 0) kill(pid_, SIGKILL);
  }

  pid_t pid() const { return pid_; }
  // Returns when it is done, or has become another program.
  void Act() {
    char byte = 0;
    EXPECT_EQ(write(go_.writing.get(), "g", 1), 1);
    EXPECT_GE(read(done_.reading.get(), &byte, 1), 0);
  }

 private:
  Pipe go_;
  Pipe done_;
  WaitingChild child_;
  pid_t pid_ = 0;
};

[[noreturn]] void BecomeSleep() {
  execl("/bin/sleep", "sleep", "1000", nullptr);
  _exit(127);
}

void ExpectNewProgramAtOnce(const std::function<void()>& become) {
  ActingChild child(become);
  ProcessReader reader(Keep::kFiles);
  const Strings before = Arguments(reader, child.pid());
  EXPECT_EQ(before, Arguments(reader, getpid()));
  child.Act();
  const Strings wanted{"sleep", "1000"};
  EXPECT_TRUE(HasBecome(child.pid(), wanted));
  EXPECT_EQ(Arguments(reader, child.pid()), wanted);
  EXPECT_EQ(reader.Read(child.pid())->name, "sleep");
}

TEST_F(KeptFiles, TellANewProgramAtOnce) { ExpectNewProgramAtOnce(BecomeSleep); }

// The thread gets the number of the process, whose first thread ends.
TEST_F(KeptFiles, TellANewProgramThatAnotherThreadHasStarted) {
  ExpectNewProgramAtOnce([] {
    std::thread(BecomeSleep).detach();
    for (;;) pause();
  });
}

TEST_F(KeptFiles, TellATitleAfterAFewLists) {
  ActingChild child([] {
    const auto self = ReadProcess(getpid());
    if (!self || self->argv_end <= self->argv_begin) _exit(1);
    memset(reinterpret_cast<char*>(self->argv_begin), 't', self->argv_end - self->argv_begin - 1);
  });
  ProcessReader reader(Keep::kFiles);
  const Strings before = Arguments(reader, child.pid());
  child.Act();
  ProcessReader anew(Keep::kNothing);
  const Strings title = Arguments(anew, child.pid());
  ASSERT_TRUE(title[0].starts_with("ttt"));
  ASSERT_NE(title, before);
  unsigned lists = 1;
  while (lists < 100 && Arguments(reader, child.pid()) != title) ++lists;
  EXPECT_EQ(lists, ProcessReader::kArgumentsEvery);
}

}  // namespace
}  // namespace spty
