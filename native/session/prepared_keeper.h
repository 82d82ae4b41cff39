// A keeper that was started before it is known what it is to do: it gets ready meanwhile, and should the host
// die in the middle, somebody is there to tidy up.
#pragma once

#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "policy/policy.h"
#include "session/keeper_process.h"

namespace spty {

struct PreparedKeeper {
  KeeperProcess process;
  // For this user alone; empty if none was wanted. Removed by the keeper, whatever becomes of the session.
  std::string temp_dir;
  // That directory, opened right after it was made; invalid if there is none.
  Fd temp;
};

// `temp_prefix`: absolute, the name of a private temporary directory but for its last letters; empty: none.
Result<PreparedKeeper> PrepareKeeper(const std::string& keeper_path, const std::string& temp_prefix);

// Whether what `policy` grants as the private temporary directory is the one that was made: {temp, ESTALE} if
// somebody who may write beside it has put something else under its name.
Result<void> VerifyTemp(const PreparedKeeper& prepared, const Policy& policy);

}  // namespace spty
