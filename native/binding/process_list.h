// A session's processes, for JavaScript.
#pragma once

#include <string>

#include "track/process_reader.h"

namespace spty {

class Session;

class ProcessList {
 public:
  // Everybody who belongs to the session now, as JSON.
  std::string ToJson(const Session& session);
  // Closes what is kept open for the next list.
  void Forget() { reader_.Forget(); }

 private:
  ProcessReader reader_{ProcessReader::Keep::kFiles};
};

}  // namespace spty
