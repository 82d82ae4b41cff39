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
  around.holes = {{"/home/me/.ssh", {12, 34, wire::kWasOnlyThere, 0}},
                  {"/home/me/.config/git", {56, 78, wire::kByName, 1}}};
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
    err = DecodeAround(bytes.get(), from.size(), holes, room, &around);
  }
  std::unique_ptr<char[]> bytes;
  Around around;
  ProtectedPlace holes[8] = {};
  int err = 0;
};

TEST(AroundFrame, SaysWhatWasMeant) {
  const Decoded decoded(Encoded(Example()));
  ASSERT_EQ(decoded.err, 0);
  EXPECT_EQ(memcmp(decoded.around.rights, Example().rights, sizeof decoded.around.rights), 0);
  EXPECT_STREQ(decoded.around.path, "/home/me");
  EXPECT_EQ(decoded.around.holes, decoded.holes);
  ASSERT_EQ(decoded.around.hole_count, 2U);
  EXPECT_STREQ(decoded.holes[0].path, "/home/me/.config/git");
  EXPECT_STREQ(decoded.holes[1].path, "/home/me/.ssh");
  EXPECT_EQ(memcmp(&decoded.holes[0].what, &Example().holes[1].what, sizeof(wire::AroundHole)), 0);
  EXPECT_EQ(memcmp(&decoded.holes[1].what, &Example().holes[0].what, sizeof(wire::AroundHole)), 0);
}

// So that what is in a directory is found at once.
TEST(AroundFrame, APlaceAndWhatIsInItAreTogether) {
  RulesAround around;
  around.path = "/";
  const char* const sorted[] = {"/a",     "/a/\x01", "/a/b", "/a/b/c", "/a/b!",
                                "/a/b.d", "/a\x01",  "/a b", "/a-b",   "/a\xff"};
  for (const char* path : sorted) around.holes.insert(around.holes.begin(), {path, {}});
  std::string frame = Encoded(around);
  Decoded few(frame);
  EXPECT_EQ(few.err, EPROTO) << "no room";
  ProtectedPlace holes[10];
  Around decoded;
  ASSERT_EQ(DecodeAround(frame.data(), frame.size(), holes, 10, &decoded), 0);
  for (size_t i = 0; i < 10; ++i) EXPECT_STREQ(holes[i].path, sorted[i]);
  const size_t at = frame.find("/a/b/c");
  frame.replace(at, 6, "/a/b-c");
  EXPECT_EQ(DecodeAround(frame.data(), frame.size(), holes, 10, &decoded), EPROTO) << "not in order";
}

TEST(AroundFrame, EveryTruncationAndMoreThanThereIsRoomForIsRefused) {
  const std::string frame = Encoded(Example());
  for (size_t size = 0; size < frame.size(); ++size)
    EXPECT_EQ(Decoded(frame.substr(0, size)).err, EPROTO) << size;
  EXPECT_EQ(Decoded(frame + '\0').err, EPROTO);
  EXPECT_EQ(Decoded(frame, 2).err, 0);
  EXPECT_EQ(Decoded(frame, 1).err, EPROTO);
}

TEST(AroundFrame, OnlyPlacesThatLieInTheDirectory) {
  const auto err_of = [](const char* path, const char* hole) {
    RulesAround around = Example();
    around.path = path;
    around.holes = {{hole, {}}};
    return Decoded(Encoded(around)).err;
  };
  EXPECT_EQ(err_of("/", "/x"), 0);
  EXPECT_EQ(err_of("/a", "/a/x"), 0);
  EXPECT_EQ(err_of("home", "/x"), EPROTO);
  EXPECT_EQ(err_of("", "/x"), EPROTO);
  for (const char* hole : {"", "x", "/", "/a", "/a/", "/ab", "/b/x"})
    EXPECT_EQ(err_of("/a", hole), EPROTO) << hole;
}

TEST(AroundFrame, OnlyWhatIsKnownOfPlaces) {
  const auto err_of = [](wire::AroundHole what) {
    RulesAround around = Example();
    around.holes[0].what = what;
    return Decoded(Encoded(around)).err;
  };
  EXPECT_EQ(err_of({1, 2, wire::kWasThere, 1}), 0);
  EXPECT_EQ(err_of({1, 2, wire::kWasThere, 2}), EPROTO);
  EXPECT_EQ(err_of({1, 2, static_cast<wire::HoleState>(3), 0}), EPROTO);
}

TEST(AroundFrame, NoNulBytes) {
  RulesAround around = Example();
  around.holes.push_back({std::string("/home/me/a\0b", 12), {}});
  EXPECT_EQ(EncodeAround(around).error().err, EINVAL);
}

}  // namespace
}  // namespace spty
