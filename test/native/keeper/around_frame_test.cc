// What the host says of a directory with something protected in it, and what the keeper takes for that.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "keeper/plan.h"
#include "keeper/plan_view.h"

namespace spty {
namespace {

RulesAround Example() {
  RulesAround around;
  around.path = "/home/me";
  for (uint64_t& right : around.rights) right = 0x100000000 + static_cast<uint64_t>(&right - around.rights);
  around.holes = {"-/home/me/.ssh", "r/home/me/.config/git"};
  return around;
}

std::string Encoded(const RulesAround& around) {
  auto encoded = EncodeAround(around);
  EXPECT_TRUE(encoded.ok());
  return encoded.value();
}

// In a block of exactly its size, so that a sanitizer sees every step beside it.
struct Decoded {
  explicit Decoded(const std::string& from, size_t room = 8) : bytes(new char[from.size()]) {
    memcpy(bytes.get(), from.data(), from.size());
    err = DecodeAround(bytes.get(), from.size(), &fixed, &path, holes, room);
  }
  std::unique_ptr<char[]> bytes;
  wire::AroundFixed fixed{};
  char* path = nullptr;
  char* holes[8] = {};
  int err = 0;
};

TEST(AroundFrame, SaysWhatWasMeant) {
  const Decoded decoded(Encoded(Example()));
  ASSERT_EQ(decoded.err, 0);
  EXPECT_EQ(memcmp(decoded.fixed.rights, Example().rights, sizeof decoded.fixed.rights), 0);
  EXPECT_STREQ(decoded.path, "/home/me");
  ASSERT_EQ(decoded.fixed.hole_count, 2U);
  EXPECT_STREQ(decoded.holes[0], "-/home/me/.ssh");
  EXPECT_STREQ(decoded.holes[1], "r/home/me/.config/git");
}

TEST(AroundFrame, EveryTruncationAndMoreThanThereIsRoomForIsRefused) {
  const std::string frame = Encoded(Example());
  for (size_t size = 0; size < frame.size(); ++size)
    EXPECT_EQ(Decoded(frame.substr(0, size)).err, EPROTO) << size;
  EXPECT_EQ(Decoded(frame + '\0').err, EPROTO);
  EXPECT_EQ(Decoded(frame, 2).err, 0);
  EXPECT_EQ(Decoded(frame, 1).err, EPROTO);
}

TEST(AroundFrame, OnlyAbsolutePathsAndKnownLetters) {
  const auto err_of = [](const char* path, const char* hole) {
    RulesAround around = Example();
    around.path = path;
    around.holes[1] = hole;
    return Decoded(Encoded(around)).err;
  };
  EXPECT_EQ(err_of("/", "-/x"), 0);
  EXPECT_EQ(err_of("home", "-/x"), EPROTO);
  EXPECT_EQ(err_of("", "-/x"), EPROTO);
  for (const char* hole : {"", "-", "r", "/x", "w/x", "-x", "rr/x"})
    EXPECT_EQ(err_of("/", hole), EPROTO) << hole;
}

TEST(AroundFrame, NoNulBytes) {
  RulesAround around = Example();
  around.holes.push_back(std::string("-/a\0b", 5));
  EXPECT_EQ(EncodeAround(around).error().err, EINVAL);
}

}  // namespace
}  // namespace spty
