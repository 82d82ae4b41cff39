#include "support/temp_dir.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>

namespace spty {

TempDir::TempDir() {
  path_ = std::filesystem::temp_directory_path().string() + "/spty-test-XXXXXX";
  EXPECT_NE(mkdtemp(path_.data()), nullptr) << path_;
  // Readable for the users that some tests become.
  EXPECT_EQ(chmod(path_.c_str(), 0755), 0);
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::Write(const std::string& name, const std::string& content, mode_t mode) const {
  std::ofstream(File(name), std::ios::binary) << content;
  EXPECT_EQ(chmod(File(name).c_str(), mode), 0);
  return File(name);
}

std::string TempDir::Fifo(const std::string& name) const {
  EXPECT_EQ(mkfifo(File(name).c_str(), 0666), 0);
  EXPECT_EQ(chmod(File(name).c_str(), 0666), 0);
  return File(name);
}

}  // namespace spty
