#include "support/limits.h"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace spty {

DescriptorLimit::DescriptorLimit(int spare) {
  EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
  // The limit is a number that no new descriptor may reach, so gaps below it count as room.
  int limit = 0;
  for (int left = spare; left > 0 || fcntl(limit, F_GETFD) != -1; ++limit) {
    if (fcntl(limit, F_GETFD) == -1) --left;
  }
  rlimit lowered = before_;
  lowered.rlim_cur = static_cast<rlim_t>(limit);
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &lowered), 0);
}

DescriptorLimit::~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }

}  // namespace spty
