// Sessions whose program gets something else than the terminal for its descriptors 0, 1 and 2.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "session/stdio_check.h"
#include "support/descriptors.h"
#include "support/live_session.h"
#include "support/temp_dir.h"
#include "support/terminal.h"

namespace spty {
namespace {

std::string ReadAll(int fd) {
  std::string text;
  char bytes[4096];
  for (;;) {
    const ssize_t got = RetryEintr([&] { return read(fd, bytes, sizeof bytes); });
    if (got <= 0) return text;
    text.append(bytes, static_cast<size_t>(got));
  }
}

TEST(SessionStdio, GivesEachDescriptorItsOwn) {
  Pipe in;
  Pipe out;
  Pipe err;
  SpawnRequest request = ShellRequest(
      "cat; echo to err >&2; echo to terminal > /dev/tty; test -t 0 || test -t 1 || test -t 2 || exit 5");
  request.stdio = {in.reading.get(), out.writing.get(), err.writing.get()};
  LiveSession session(request);
  ASSERT_TRUE(session.ok()) << Describe(session.error());
  out.writing.Reset();
  err.writing.Reset();
  in.reading.Reset();
  const std::string bytes("\x03\x04\x1a\0\r\n\xff", 7);
  ASSERT_EQ(write(in.writing.get(), bytes.data(), bytes.size()), ssize_t(bytes.size()));
  in.writing.Reset();
  // Ends only once nobody else, the keeper included, holds the other ends.
  EXPECT_EQ(ReadAll(out.reading.get()), bytes);
  EXPECT_EQ(ReadAll(err.reading.get()), "to err\n");
  std::string output;
  EXPECT_EQ(session.ReadToEnd(&output).code, 5);
  EXPECT_EQ(output, "to terminal\n");
}

TEST(SessionStdio, LeavesTheOthersToTheTerminal) {
  Pipe out;
  SpawnRequest request =
      ShellRequest("test -t 0 && test -t 2 && ! test -t 1 && echo piped && echo shown >&2");
  request.stdio[1] = out.writing.get();
  LiveSession session(request);
  ASSERT_TRUE(session.ok()) << Describe(session.error());
  out.writing.Reset();
  EXPECT_EQ(ReadAll(out.reading.get()), "piped\n");
  std::string output;
  EXPECT_EQ(session.ReadToEnd(&output).code, 0);
  EXPECT_EQ(output, "shown\n");
}

TEST(SessionStdio, OnlyThreeDescriptorsReachTheProgram) {
  Pipe in;
  SpawnRequest request = ShellRequest("ls /dev/fd | tr '\\n' ' '");
  request.stdio[0] = in.reading.get();
  LiveSession session(request);
  std::string output;
  EXPECT_EQ(session.ReadToEnd(&output).code, 0);
  EXPECT_EQ(output, "0 1 2 3 ");  // 3 is the listing itself
}

TEST(SessionStdio, EndsByAClosedPipeAsUsual) {
  Pipe out;
  SpawnRequest request = ShellRequest("exec yes");
  request.stdio[1] = out.writing.get();
  out.reading.Reset();
  LiveSession session(request);
  EXPECT_EQ(session.ReadToEnd().signal, SIGPIPE);
}

std::string Verdict(int fd) {
  const auto checked = CheckStdio(fd);
  if (checked.ok()) return "fine";
  EXPECT_EQ(checked.error().stage, Stage::kStdio);
  return ErrnoName(checked.error().err) + " " + checked.error().subject;
}

TEST(CheckStdio, TakesPipesFilesAndDevices) {
  Pipe pipe;
  TempDir dir;
  dir.Write("file", "");
  EXPECT_EQ(Verdict(pipe.reading.get()), "fine");
  EXPECT_EQ(Verdict(Fd(open((dir.path() + "/file").c_str(), O_RDWR | O_CLOEXEC)).get()), "fine");
  EXPECT_EQ(Verdict(Fd(open("/dev/null", O_RDWR | O_CLOEXEC)).get()), "fine");
  EXPECT_EQ(Verdict(SocketPair().first.get()), "fine");
}

TEST(CheckStdio, TakesNothingThatReachesFurther) {
  TestTerminal terminal;
  EXPECT_EQ(Verdict(terminal.slave()), "EINVAL a terminal");
  EXPECT_EQ(Verdict(Fd(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)).get()), "EINVAL a directory");
  EXPECT_EQ(Verdict(OpenSocket(AF_UNIX, SOCK_STREAM).get()), "EINVAL a socket without a connection");
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
  const Fd left(ends[0]);
  const Fd right(ends[1]);
  EXPECT_EQ(Verdict(left.get()), "EINVAL a socket without a connection");
  EXPECT_EQ(Verdict(987654), "EBADF 987654");
}

TEST(CheckStdio, TakesNoNetworkConnection) {
  const Fd listener = OpenSocket(AF_INET, SOCK_STREAM);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(bind(listener.get(), generic, size), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  ASSERT_EQ(getsockname(listener.get(), generic, &size), 0);
  const Fd client = OpenSocket(AF_INET, SOCK_STREAM);
  ASSERT_EQ(connect(client.get(), generic, size), 0);
  EXPECT_EQ(Verdict(client.get()), "EINVAL a network connection");
}

TEST(CheckStdio, IsAskedBeforeAnythingStarts) {
  TestTerminal terminal;
  SpawnRequest request = ShellRequest("echo ran");
  request.stdio[0] = terminal.slave();
  LiveSession session(request);
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().stage, Stage::kStdio);
}

}  // namespace
}  // namespace spty
