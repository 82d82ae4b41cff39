// Random settings documents from small pools, so that two of them meet often.
#pragma once

#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
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

  // `paths` is the pool for all path lists.
  std::string Document(const std::vector<std::string>& paths) {
    text_ = "{";
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
    const std::vector<std::string> hosts = {"a.example", "*.a.example", "x.a.example", "a.example:443",
                                            "*.b.example:22"};
    List("network_hosts", hosts);
    List("denied_domains", hosts);
    List("allowed_env_vars", {"PATH", "HOME", "P*", "LC_*", "LC_ALL", "*", "SECRET"});
    if (Chance(4)) Add("system_paths", SystemPaths(paths));
    if (Chance(4)) Add("limits", "{\"processes\": " + std::to_string(1 + Below(5)) + "}");
    return text_ + "}";
  }

  bool Chance(unsigned one_in) { return Below(one_in) == 0; }
  unsigned Below(unsigned limit) { return static_cast<unsigned>(engine_() % limit); }

 private:
  void Add(std::string_view key, const std::string& value) {
    if (text_.size() > 1) text_ += ", ";
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

  std::mt19937_64 engine_;
  std::string text_;
};

}  // namespace spty
