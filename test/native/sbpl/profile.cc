#include "sbpl/profile.h"

#include <algorithm>
#include <array>

#include "sbpl/pattern.h"

namespace spty::sbpl {
namespace {

bool Within(const std::string& path, const std::string& place) {
  if (place == "/") return path.starts_with('/');
  return path == place || (path.starts_with(place) && path[place.size()] == '/');
}

// The operations that a profile may speak of, and what their filters are about.
enum class About { kNothing, kFile, kName, kPosixName, kTarget, kNetwork, kDomain };

struct Operation {
  std::string_view name;
  About about;
};

constexpr std::array kOperations = {
    Operation{"file-read*", About::kFile},
    Operation{"file-read-data", About::kFile},
    Operation{"file-read-metadata", About::kFile},
    Operation{"file-write*", About::kFile},
    Operation{"file-write-data", About::kFile},
    Operation{"file-write-create", About::kFile},
    Operation{"file-write-unlink", About::kFile},
    Operation{"file-ioctl", About::kFile},
    Operation{"file-link", About::kFile},
    Operation{"file-map-executable", About::kFile},
    Operation{"process-exec*", About::kFile},
    Operation{"process-fork", About::kNothing},
    Operation{"process-info*", About::kTarget},
    Operation{"signal", About::kTarget},
    Operation{"sysctl-read", About::kNothing},
    Operation{"mach-lookup", About::kName},
    Operation{"ipc-posix-sem", About::kPosixName},
    Operation{"ipc-posix-shm-read*", About::kPosixName},
    Operation{"ipc-posix-shm-write-create", About::kPosixName},
    Operation{"ipc-posix-shm-write-data", About::kPosixName},
    Operation{"ipc-posix-shm-write-unlink", About::kPosixName},
    Operation{"network-outbound", About::kNetwork},
    Operation{"network-inbound", About::kNetwork},
    Operation{"network-bind", About::kNetwork},
    Operation{"pseudo-tty", About::kNothing},
    Operation{"system-socket", About::kDomain},
};

std::optional<About> AboutOf(const std::string& name) {
  for (const Operation& operation : kOperations) {
    if (operation.name == name) return operation.about;
  }
  return std::nullopt;
}

bool Covers(const std::string& operation, const std::string& asked) {
  if (operation.ends_with('*'))
    return asked.starts_with(std::string_view(operation).substr(0, operation.size() - 1));
  return operation == asked;
}

}  // namespace

class Compiler {
 public:
  using Filter = Profile::Filter;

  explicit Compiler(std::string* problem) : problem_(problem) {}

  std::optional<Profile> Compile(const std::vector<Expression>& expressions) {
    Profile profile;
    if (expressions.size() < 2 || !expressions[0].Is("version") || expressions[0].items.size() != 2 ||
        expressions[0].items[1].text != "1") {
      return Refuse<Profile>("no (version 1)");
    }
    const Expression& first = expressions[1];
    if ((!first.Is("deny") && !first.Is("allow")) || first.items.size() != 2 ||
        first.items[1].text != "default") {
      return Refuse<Profile>("no default");
    }
    profile.default_allow_ = first.Is("allow");
    for (size_t i = 2; i < expressions.size(); ++i) {
      std::optional<Profile::Rule> rule = CompileRule(expressions[i]);
      if (!rule) return std::nullopt;
      profile.rules_.push_back(std::move(*rule));
    }
    return profile;
  }

 private:
  template <typename T>
  std::optional<T> Refuse(const std::string& why) {
    if (problem_->empty()) *problem_ = why;
    return std::nullopt;
  }

  std::optional<Profile::Rule> CompileRule(const Expression& expression) {
    Profile::Rule rule;
    if (!expression.Is("allow") && !expression.Is("deny"))
      return Refuse<Profile::Rule>("neither allow nor deny");
    rule.allow = expression.Is("allow");
    size_t at = 1;
    std::optional<About> about;
    for (; at < expression.items.size() && expression.items[at].kind == Expression::Kind::kSymbol; ++at) {
      const std::string& name = expression.items[at].text;
      const std::optional<About> this_about = AboutOf(name);
      if (!this_about) return Refuse<Profile::Rule>("unknown operation " + name);
      if (about && *about != *this_about)
        return Refuse<Profile::Rule>("operations of different kinds: " + name);
      about = this_about;
      rule.operations.push_back(name);
    }
    if (!about) return Refuse<Profile::Rule>("a rule without an operation");
    for (; at < expression.items.size(); ++at) {
      if (expression.items[at].Is("with")) {
        if (!TakeModifier(expression.items[at], rule)) return std::nullopt;
        continue;
      }
      std::optional<Filter> filter = CompileFilter(expression.items[at], *about);
      if (!filter) return std::nullopt;
      rule.filters.push_back(std::move(*filter));
    }
    return rule;
  }

  // Only: programs that run without the profile.
  bool TakeModifier(const Expression& modifier, Profile::Rule& rule) {
    const bool known = modifier.items.size() == 2 && modifier.items[1].text == "no-sandbox" && rule.allow &&
                       rule.operations == std::vector<std::string>{"process-exec*"};
    if (!known) Refuse<Filter>("unknown modifier");
    rule.leaves_profile = known;
    return known;
  }

  std::optional<Filter> CompileFilter(const Expression& filter, About about) {
    if (!filter.is_list() || filter.items.size() < 2) return Refuse<Filter>("no filter: " + filter.text);
    switch (about) {
      case About::kFile:
        return FileFilter(filter);
      case About::kName:
        if (filter.Is("global-name")) return NameFilter(filter, Expression::Kind::kString);
        break;
      case About::kTarget:
        if (filter.Is("target")) return TargetFilter(filter);
        break;
      case About::kDomain:
        if (filter.Is("socket-domain")) return NameFilter(filter, Expression::Kind::kSymbol);
        break;
      case About::kPosixName:
        if (filter.Is("ipc-posix-name-regex")) return RegexFilter(filter, &Request::name);
        break;
      case About::kNetwork:
        return NetworkFilter(filter);
      case About::kNothing:
        break;
    }
    return Refuse<Filter>("unknown filter " + filter.items[0].text);
  }

  std::optional<Filter> FileFilter(const Expression& filter) {
    if (filter.Is("require-all")) {
      std::vector<Filter> all;
      for (size_t i = 1; i < filter.items.size(); ++i) {
        std::optional<Filter> one = CompileFilter(filter.items[i], About::kFile);
        if (!one) return std::nullopt;
        all.push_back(std::move(*one));
      }
      return Filter([all](const Request& request) {
        return std::all_of(all.begin(), all.end(), [&](const Filter& one) { return one(request); });
      });
    }
    if (filter.Is("regex")) return RegexFilter(filter, &Request::path);
    if (filter.items.size() != 2 || filter.items[1].kind != Expression::Kind::kString)
      return Refuse<Filter>("a filter wants one string");
    const std::string text = filter.items[1].text;
    if (filter.Is("extension")) {
      return Filter([text](const Request& request) { return request.extensions.contains(text); });
    }
    const bool is_path = text == "/" || (text.starts_with('/') && !text.ends_with('/'));
    if (!is_path) return Refuse<Filter>("not an absolute path: " + text);
    if (filter.Is("literal")) return Filter([text](const Request& request) { return request.path == text; });
    if (filter.Is("subpath"))
      return Filter([text](const Request& request) { return Within(request.path, text); });
    return Refuse<Filter>("unknown filter " + filter.items[0].text);
  }

  std::optional<Filter> RegexFilter(const Expression& filter, std::string Request::*member) {
    if (filter.items.size() != 2 || filter.items[1].kind != Expression::Kind::kRegex)
      return Refuse<Filter>("a regex filter wants one regular expression");
    const std::optional<Pattern> pattern = Pattern::Parse(filter.items[1].text);
    if (!pattern) return Refuse<Filter>("a regular expression beyond us: " + filter.items[1].text);
    return Filter(
        [pattern = *pattern, member](const Request& request) { return pattern.Matches(request.*member); });
  }

  std::optional<Filter> NameFilter(const Expression& filter, Expression::Kind kind) {
    if (filter.items.size() != 2 || filter.items[1].kind != kind)
      return Refuse<Filter>("a filter wants one name");
    const std::string name = filter.items[1].text;
    return Filter([name](const Request& request) { return request.name == name; });
  }

  std::optional<Filter> TargetFilter(const Expression& filter) {
    const std::string target = filter.items[1].text;
    if (target != "self" && target != "children" && target != "same-sandbox")
      return Refuse<Filter>("unknown target " + target);
    return Filter([target](const Request& request) { return request.target == target; });
  }

  std::optional<Filter> NetworkFilter(const Expression& filter) {
    if ((!filter.Is("remote") && !filter.Is("local")) || filter.items.size() != 3)
      return Refuse<Filter>("unknown filter " + filter.items[0].text);
    const std::string& kind = filter.items[1].text;
    if (kind == "unix-socket") {
      std::optional<Filter> path = CompileFilter(filter.items[2], About::kFile);
      if (!path) return std::nullopt;
      return Filter([path = *path](const Request& request) { return request.unix_socket && path(request); });
    }
    if ((kind != "ip" && kind != "tcp") || filter.items[2].kind != Expression::Kind::kString)
      return Refuse<Filter>("unknown address " + kind);
    const std::string& address = filter.items[2].text;
    const size_t colon = address.find(':');
    if (colon == std::string::npos) return Refuse<Filter>("an address without a port: " + address);
    const std::string host = address.substr(0, colon);
    const std::string port = address.substr(colon + 1);
    // Seatbelt takes no other hosts.
    if (host != "*" && host != "localhost") return Refuse<Filter>("unknown host " + host);
    const bool only_tcp = kind == "tcp";
    return Filter([=](const Request& request) {
      return !request.unix_socket && (request.tcp || !only_tcp) && (host == "*" || request.host == host) &&
             (port == "*" || port == std::to_string(request.port));
    });
  }

  std::string* problem_;
};

std::optional<Profile> Profile::Parse(std::string_view text, std::string* problem) {
  const auto expressions = ParseExpressions(text, problem);
  if (!expressions) return std::nullopt;
  return Compiler(problem).Compile(*expressions);
}

const Profile::Rule* Profile::Deciding(const Request& request) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    const bool about = std::any_of(rule->operations.begin(), rule->operations.end(),
                                   [&](const std::string& name) { return Covers(name, request.operation); });
    if (!about) continue;
    if (rule->filters.empty() || std::any_of(rule->filters.begin(), rule->filters.end(),
                                             [&](const Filter& filter) { return filter(request); })) {
      return &*rule;
    }
  }
  return nullptr;
}

}  // namespace spty::sbpl
