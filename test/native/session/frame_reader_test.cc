#include "session/frame_reader.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "support/descriptors.h"

namespace spty {
namespace {

using Status = FrameReader::Status;

class FrameReaderTest : public testing::Test {
 protected:
  FrameReaderTest() {
    SocketPair pair;
    ours_ = std::move(pair.first);
    theirs_ = std::move(pair.second);
  }

  template <typename Payload>
  static std::string Bytes(wire::Type type, const Payload& payload) {
    wire::Header header{wire::kMagic, wire::kVersion, type, sizeof payload, 0};
    return std::string(reinterpret_cast<const char*>(&header), sizeof header) +
           std::string(reinterpret_cast<const char*>(&payload), sizeof payload);
  }
  static std::string Bare(wire::Header header) {
    return std::string(reinterpret_cast<const char*>(&header), sizeof header);
  }
  void Send(const std::string& bytes) {
    ASSERT_EQ(send(theirs_.get(), bytes.data(), bytes.size(), kSendQuietly), ssize_t(bytes.size()));
  }
  Status Next() {
    auto status = reader_.Next(ours_.get(), &frame_);
    EXPECT_TRUE(status.ok());
    return status.ok() ? status.value() : Status::kClosed;
  }

  Fd ours_;
  Fd theirs_;
  FrameReader reader_;
  Frame frame_{};
};

TEST_F(FrameReaderTest, ReadsEveryKindOfFrame) {
  Send(Bytes(wire::Type::kStarted, wire::Started{77, 1}) +
       Bytes(wire::Type::kFailed, wire::Failed{Stage::kCwd, 0, ENOENT, 3, {}}) +
       Bare({wire::kMagic, wire::kVersion, wire::Type::kWorking, 0, 0}) +
       Bytes(wire::Type::kExited, wire::Exited{5, 6}));
  ASSERT_EQ(Next(), Status::kFrame);
  EXPECT_EQ(frame_.type, wire::Type::kStarted);
  EXPECT_EQ(frame_.started.pid, 77);
  ASSERT_EQ(Next(), Status::kFrame);
  EXPECT_EQ(frame_.type, wire::Type::kFailed);
  EXPECT_EQ(frame_.failed.stage, Stage::kCwd);
  EXPECT_EQ(frame_.failed.err, ENOENT);
  EXPECT_EQ(frame_.failed.candidate, 3U);
  ASSERT_EQ(Next(), Status::kFrame);
  EXPECT_EQ(frame_.type, wire::Type::kWorking);
  ASSERT_EQ(Next(), Status::kFrame);
  EXPECT_EQ(frame_.type, wire::Type::kExited);
  EXPECT_EQ(frame_.exited.code, 5);
  EXPECT_EQ(frame_.exited.signal, 6);
  EXPECT_EQ(Next(), Status::kNothing);
}

TEST_F(FrameReaderTest, WaitsForAWholeFrame) {
  std::string bytes = Bytes(wire::Type::kExited, wire::Exited{5, 6});
  EXPECT_EQ(Next(), Status::kNothing);
  for (size_t i = 0; i + 1 < bytes.size(); ++i) {
    Send(bytes.substr(i, 1));
    ASSERT_EQ(Next(), Status::kNothing) << i;
  }
  Send(bytes.substr(bytes.size() - 1));
  ASSERT_EQ(Next(), Status::kFrame);
  EXPECT_EQ(frame_.exited.code, 5);
}

TEST_F(FrameReaderTest, ReadsWhatCameBeforeTheEnd) {
  Send(Bytes(wire::Type::kExited, wire::Exited{5, 0}));
  theirs_.Reset();
  EXPECT_EQ(Next(), Status::kFrame);
  EXPECT_EQ(Next(), Status::kClosed);
  EXPECT_EQ(Next(), Status::kClosed);
}

TEST_F(FrameReaderTest, TakesHalfAFrameForTheEnd) {
  Send(Bytes(wire::Type::kExited, wire::Exited{5, 0}).substr(0, 18));
  EXPECT_EQ(Next(), Status::kNothing);
  theirs_.Reset();
  EXPECT_EQ(Next(), Status::kClosed);
}

TEST_F(FrameReaderTest, RefusesWhatIsNoFrameOfThisVersion) {
  const wire::Header good{wire::kMagic, wire::kVersion, wire::Type::kExited, sizeof(wire::Exited), 0};
  wire::Header magic = good;
  magic.magic = 0;
  wire::Header version = good;
  version.version = wire::kVersion + 1;
  wire::Header longer = good;
  ++longer.length;
  wire::Header huge = good;
  huge.length = ~0U;
  wire::Header plan = good;
  plan.type = wire::Type::kPlan;
  wire::Header unknown = good;
  unknown.type = static_cast<wire::Type>(20);
  for (const wire::Header& bad : {magic, version, longer, huge, plan, unknown}) {
    Send(Bare(bad));
    auto status = reader_.Next(ours_.get(), &frame_);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().stage, Stage::kKeeper);
    EXPECT_EQ(status.error().err, EPROTO);
    reader_ = FrameReader();
  }
  Send(Bare(good));
  EXPECT_EQ(Next(), Status::kNothing);
}

TEST_F(FrameReaderTest, SaysWhenTheSocketIsNone) {
  auto status = reader_.Next(-1, &frame_);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().err, EBADF);
}

}  // namespace
}  // namespace spty
