// Error and Result<T>: how every fallible function in native/ answers. No exceptions cross a folder border.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/stage.h"

namespace spty {

// What went wrong: at which step, with which errno, and with what (a path, an option name, a program).
// `subject` may hold text from outside; it is for display only.
struct Error {
  Stage stage = Stage::kNone;
  int err = 0;
  std::string subject;
};

// One line for people, e.g. "exec: /bin/nope: No such file or directory".
std::string Describe(const Error& error);

// "ENOENT" and friends; "E<number>" for one that has no name here.
std::string ErrnoName(int err);

// Whether the host has no descriptor or memory to spare, which says nothing about what it asked for.
bool IsShortage(int err);

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : error_(std::move(error)) {}  // NOLINT
  bool ok() const { return value_.has_value(); }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  const Error& error() const { return error_; }

 private:
  std::optional<T> value_;
  Error error_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT
  bool ok() const { return !error_.has_value(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace spty

#define SPTY_CONCAT_(a, b) a##b
#define SPTY_CONCAT(a, b) SPTY_CONCAT_(a, b)

// TRY(expr): leave the function with the error of a Result<void>.
#define TRY(expr)                                                              \
  do {                                                                         \
    if (auto try_result = (expr); !try_result.ok()) return try_result.error(); \
  } while (false)

// TRY_ASSIGN(lhs, expr): declare or assign lhs from a Result<T>, or leave with its error.
#define TRY_ASSIGN(lhs, expr)                                                                      \
  auto SPTY_CONCAT(try_result_, __LINE__) = (expr);                                                \
  if (!SPTY_CONCAT(try_result_, __LINE__).ok()) return SPTY_CONCAT(try_result_, __LINE__).error(); \
  lhs = std::move(SPTY_CONCAT(try_result_, __LINE__)).value()
