// A directory of the test's own, removed with everything in it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace spty {

class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::string path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file and returns its path.
  std::string Write(const std::string& name, const std::string& content, mode_t mode = 0644) const;
  std::string Fifo(const std::string& name) const;

 private:
  std::string path_;
};

}  // namespace spty
