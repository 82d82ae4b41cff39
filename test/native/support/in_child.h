// Runs a test's body in a process of its own, for what cannot be undone: closed stdio, limits, filters.
#pragma once

#include <functional>
#include <string>

namespace spty {

// What `body` complained about in a forked child; "" if nothing. A child that crashes or hangs is a complaint
// too. Call it while this process has no other thread.
std::string InChild(const std::function<std::string()>& body);

std::string Complaint(const char* file, int line, const std::string& text);

}  // namespace spty

// For bodies of InChild: GoogleTest's own assertions would be lost with the child.
#define CHILD_CHECK(condition) \
  if (!(condition)) return ::spty::Complaint(__FILE__, __LINE__, #condition)
