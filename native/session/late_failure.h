// node-pty's way of telling that a program could not be started: a line in the terminal. Clients show it to
// people.
#pragma once

#include <string>

#include "base/stage.h"

namespace spty {

std::string LateFailureText(Stage stage, int err);

}  // namespace spty
