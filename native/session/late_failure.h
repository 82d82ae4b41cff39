// node-pty's way of telling that a program could not be started: a line in the terminal. Clients show it to
// people.
#pragma once

#include <string>

#include "base/result.h"

namespace spty {

std::string LateFailureText(const Error& error);

}  // namespace spty
