// What a profile of Seatbelt answers, by the rules of its language: the last rule that matches decides. Knows
// the part of the language that we write, and refuses everything else, so that a slip in a profile is an
// error here and not a rule that silently never matches.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sbpl/expression.h"

namespace spty::sbpl {

// What a process asks for.
struct Request {
  std::string operation;  // a single one, without "*"
  std::string path;       // of a file, or of a UNIX socket
  bool unix_socket = false;
  std::string host;  // "localhost", or anything else
  int port = 0;
  bool tcp = true;
  std::string name;             // of a Mach service, a POSIX name, or a socket domain
  std::string target = "self";  // "self", "children", "same-sandbox", "others"
  // Tokens that this process holds for the path.
  std::set<std::string> extensions;
};

class Profile {
  using Filter = std::function<bool(const Request&)>;
  struct Rule {
    bool allow = false;
    bool leaves_profile = false;
    std::vector<std::string> operations;
    std::vector<Filter> filters;  // any of them; none: always
  };

 public:
  // Nothing, and `problem` says why, for a profile that we do not fully understand.
  static std::optional<Profile> Parse(std::string_view text, std::string* problem);

  bool Allows(const Request& request) const {
    const Rule* rule = Deciding(request);
    return rule != nullptr ? rule->allow : default_allow_;
  }
  bool AllowsFile(const std::string& operation, const std::string& path) const {
    Request request;
    request.operation = operation;
    request.path = path;
    return Allows(request);
  }
  // Whether the program runs without the profile.
  bool RunsFree(const std::string& program) const {
    Request request;
    request.operation = "process-exec";
    request.path = program;
    const Rule* rule = Deciding(request);
    return rule != nullptr && rule->leaves_profile;
  }
  // The two-point probe: `allow` in the directory may be read, `deny` may not.
  bool HasMark(const std::string& directory) const {
    return AllowsFile("file-read-data", directory + "/allow") &&
           !AllowsFile("file-read-data", directory + "/deny");
  }
  size_t rule_count() const { return rules_.size(); }

 private:
  friend class Compiler;
  const Rule* Deciding(const Request& request) const;  // the last one that matches
  bool default_allow_ = false;
  std::vector<Rule> rules_;
};

}  // namespace spty::sbpl
