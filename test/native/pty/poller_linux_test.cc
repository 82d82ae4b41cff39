#include <gtest/gtest.h>

#include "pty/poller.h"
#include "support/limits.h"
#include "support/processes.h"

namespace spty {
namespace {

TEST(Poller, SaysWhichDescriptorItCouldNotGet) {
  auto before = OwnDescriptors();
  for (int spare = 0; spare < 2; ++spare) {
    int err = 0;
    std::string subject;
    {
      DescriptorLimit limit(spare);
      auto poller = Poller::Create();
      if (!poller.ok()) {
        err = poller.error().err;
        subject = poller.error().subject;
      }
    }
    EXPECT_EQ(ErrnoName(err), "EMFILE");
    EXPECT_EQ(subject, spare == 0 ? "epoll_create1" : "eventfd");
    EXPECT_EQ(OwnDescriptors(), before);
  }
}

}  // namespace
}  // namespace spty
