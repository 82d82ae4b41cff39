#include "support/terminal.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>

#include "base/eintr.h"

namespace spty {
namespace {

constexpr int kPatienceMs = 20'000;

void AppendWithoutReturns(std::string* into, const char* bytes, ssize_t size) {
  for (ssize_t i = 0; i < size; ++i) {
    if (bytes[i] != '\r') *into += bytes[i];
  }
}

}  // namespace

TestTerminal::TestTerminal() {
  auto opened = OpenPtyPair(WindowSize{}, true);
  EXPECT_TRUE(opened.ok()) << Describe(opened.error());
  if (opened.ok()) pair_ = std::move(opened).value();
}

void TestTerminal::MakeRaw() {
  termios line{};
  EXPECT_EQ(tcgetattr(slave(), &line), 0);
  cfmakeraw(&line);
  EXPECT_EQ(tcsetattr(slave(), TCSANOW, &line), 0);
}

std::string TestTerminal::ReadUntil(const std::string& text) { return ReadWhile(&text); }

std::string TestTerminal::ReadToEnd() { return ReadWhile(nullptr); }

std::string TestTerminal::ReadWhile(const std::string* until) {
  for (;;) {
    if (until != nullptr) {
      if (size_t at = unread_.find(*until); at != std::string::npos) {
        std::string found = unread_.substr(0, at + until->size());
        unread_.erase(0, found.size());
        return found;
      }
    }
    char bytes[4096];
    ssize_t size = RetryEintr([&] { return read(master(), bytes, sizeof bytes); });
    if (size > 0) {
      AppendWithoutReturns(&unread_, bytes, size);
      continue;
    }
    if (size == -1 && errno == EAGAIN) {
      pollfd watched{master(), POLLIN, 0};
      if (RetryEintr([&] { return poll(&watched, 1, kPatienceMs); }) == 1) continue;
      ADD_FAILURE() << "nothing came for twenty seconds; before: " << unread_;
    } else if (until != nullptr) {
      ADD_FAILURE() << "the terminal ended without \"" << *until << "\"; before: " << unread_;
    }
    return std::exchange(unread_, "");
  }
}

std::string TestTerminal::ReadNow() {
  char bytes[4096];
  ssize_t size;
  while ((size = RetryEintr([&] { return read(master(), bytes, sizeof bytes); })) > 0) {
    AppendWithoutReturns(&unread_, bytes, size);
  }
  return std::exchange(unread_, "");
}

void TestTerminal::Write(const std::string& text) {
  EXPECT_EQ(write(master(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

}  // namespace spty
