#include "support/in_child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>

#include "base/eintr.h"
#include "base/fd.h"

namespace spty {
namespace {

constexpr unsigned kPatienceSeconds = 40;
constexpr int kOutOfTheWay = 100;  // bodies close and count low descriptors

[[noreturn]] void RunBody(const std::function<std::string()>& body, int report) {
  alarm(kPatienceSeconds);
  std::string complaint;
  try {
    complaint = body();
  } catch (const std::exception& error) {
    // GoogleTest would catch it, and go on with the other tests in this child.
    complaint = std::string("an exception: ") + error.what();
  }
  size_t written = 0;
  while (written < complaint.size()) {
    ssize_t size = write(report, complaint.data() + written, complaint.size() - written);
    if (size <= 0) _exit(2);
    written += static_cast<size_t>(size);
  }
  _exit(0);
}

}  // namespace

std::string Complaint(const char* file, int line, const std::string& text) {
  return std::string(file) + ":" + std::to_string(line) + ": not so: " + text + " (errno " + strerror(errno) +
         ")";
}

std::string InChild(const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) == -1) return "pipe failed";
  Fd reading(ends[0]);
  Fd low(ends[1]);
  if (fcntl(reading.get(), F_SETFD, FD_CLOEXEC) == -1) return "fcntl failed";
  Fd report(fcntl(low.get(), F_DUPFD_CLOEXEC, kOutOfTheWay));
  low.Reset();
  if (!report.valid()) return "no descriptor for the report";
  pid_t child = fork();
  if (child == -1) return "fork failed";
  if (child == 0) RunBody(body, report.get());
  report.Reset();
  std::string complaint;
  char bytes[512];
  ssize_t size;
  while ((size = RetryEintr([&] { return read(reading.get(), bytes, sizeof bytes); })) > 0) {
    complaint.append(bytes, static_cast<size_t>(size));
  }
  int status = 0;
  RetryEintr([&] { return waitpid(child, &status, 0); });
  if (WIFSIGNALED(status)) return complaint + " (ended by signal " + std::to_string(WTERMSIG(status)) + ")";
  if (WEXITSTATUS(status) != 0)
    return complaint + " (exit status " + std::to_string(WEXITSTATUS(status)) + ")";
  return complaint;
}

}  // namespace spty
