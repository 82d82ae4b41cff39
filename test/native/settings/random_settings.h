// Random settings documents from small pools, so that two of them meet often.
#pragma once

#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spty {

// A new seed each run; SPTY_TEST_SEED replays one.
inline uint64_t TestSeed() {
  if (const char* text = std::getenv("SPTY_TEST_SEED")) return std::strtoull(text, nullptr, 10);
  return std::random_device{}();
}

class RandomSettings {
 public:
  explicit RandomSettings(uint64_t seed) : engine_(seed) {}

  // A document as people write it: the sandbox settings or an editor's, with blocks for single platforms, and
  // with approvals for the agent.
  std::string AnyDocument(const std::vector<std::string>& paths) {
    if (Chance(2)) return "{" + WithBlocks(Members(paths), [&] { return Members(paths); }) + "}";
    return "{" + WithBlocks(Sections(paths), [&] { return Sections(paths); }) + "}";
  }

  // The sandbox settings alone. `paths` is the pool for all path lists.
  std::string Document(const std::vector<std::string>& paths) { return "{" + Members(paths) + "}"; }

  bool Chance(unsigned one_in) { return Below(one_in) == 0; }
  unsigned Below(unsigned limit) { return static_cast<unsigned>(engine_() % limit); }

 private:
  template <typename Block>
  std::string WithBlocks(std::string members, const Block& block) {
    for (const char* platform : {"linux", "macos", "windows"}) {
      if (!Chance(3)) continue;
      const std::string inner = "{" + block() + "}";
      text_ = std::move(members);
      Add(platform, inner);
      members = std::move(text_);
    }
    return members;
  }

  std::string Sections(const std::vector<std::string>& paths) {
    std::string sections;
    const std::string settings = Document(paths);
    if (Chance(2)) {
      sections = "\"terminal\": {\"shell\": \"sh\", \"sandbox\": " + settings + "}";
    } else {
      sections = "\"terminal.sandbox\": " + settings;
    }
    if (Chance(2)) return sections;
    return sections + ", \"agent\": {\"sandbox_permissions\": " + Permissions(paths) + "}";
  }

  std::string Permissions(const std::vector<std::string>& paths) {
    text_.clear();
    for (const char* key : {"allow_all_hosts", "allow_git_access", "allow_fs_write_all", "allow_unsandboxed"})
      if (Chance(3)) Add(key, Chance(2) ? "true" : "false");
    List("network_hosts", kHosts);
    std::vector<std::string> absolute;
    for (const std::string& path : paths)
      if (!path.starts_with('.')) absolute.push_back(path);
    List("write_paths", absolute);
    return "{" + text_ + "}";
  }

  std::string Members(const std::vector<std::string>& paths) {
    text_.clear();
    for (const char* key : {"enabled", "allow_network", "allow_all_hosts", "allow_fs_write_all",
                            "allow_unsandboxed", "allow_wide_project", "strict", "fail_if_unavailable"}) {
      if (Chance(3)) Add(key, Chance(2) ? "true" : "false");
    }
    Word("apply_to", {"terminal", "tool", "both", "neither"});
    Word("profile", {"terminal", "agent", "workspace", "read-only", "network-allow-all", "off"});
    Word("read_access", {"listed", "all"});
    Word("git_access", {"none", "read", "commit", "full"});
    Word("temp", {"shared", "private"});
    Word("nested_pty", {"shared", "private", "off"});
    Word("backend", {"auto", "landlock", "noop"});
    for (const char* key : {"additional_executable_paths", "additional_read_only_paths",
                            "additional_read_write_paths", "denied_read_paths", "unix_sockets"}) {
      List(key, paths);
    }
    List("network_hosts", kHosts);
    List("denied_domains", kHosts);
    List("allowed_env_vars", {"PATH", "HOME", "P*", "LC_*", "LC_ALL", "*", "SECRET"});
    if (Chance(4)) Add("system_paths", SystemPaths(paths));
    if (Chance(4)) Add("limits", Limits());
    return text_;
  }

  std::string Limits() {
    std::string limits;
    const auto add = [&](const char* key, unsigned long value) {
      if (!Chance(2)) return;
      limits += (limits.empty() ? "\"" : ", \"") + std::string(key) + "\": " + std::to_string(value);
    };
    add("processes", 1 + Below(5));
    add("memory_bytes", (64UL + Below(5)) << 20);
    add("cpu_percent", 50 + Below(5));
    return "{" + limits + "}";
  }

  void Add(std::string_view key, const std::string& value) {
    if (!text_.empty()) text_ += ", ";
    text_ += "\"" + std::string(key) + "\": " + value;
  }
  void Word(std::string_view key, const std::vector<std::string>& words) {
    if (Chance(3)) Add(key, "\"" + words[Below(static_cast<unsigned>(words.size()))] + "\"");
  }
  std::string Items(const std::vector<std::string>& pool) {
    std::string list = "[";
    for (const std::string& item : pool) {
      if (Chance(3)) list += (list.size() > 1 ? ", \"" : "\"") + item + "\"";
    }
    return list + "]";
  }
  void List(std::string_view key, const std::vector<std::string>& pool) {
    if (Chance(3)) Add(key, Items(pool));
  }
  std::string SystemPaths(const std::vector<std::string>& paths) {
    return "{\"executable\": " + Items(paths) + ", \"read_write\": " + Items(paths) + "}";
  }

  inline static const std::vector<std::string> kHosts = {"a.example", "*.a.example", "x.a.example",
                                                         "a.example:443", "*.b.example:22"};

  std::mt19937_64 engine_;
  std::string text_;  // the members of the object that is being written
};

}  // namespace spty
