// SPDX-License-Identifier: Apache-2.0
// A video streams while it is made, and every door to it shows the same bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/fakes/decoded_video.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(Streaming, OneCallBringsProgressAndTheWholeFile) {
  ReelServer server;
  Calls calls(server.Connect());
  const StreamResult result = calls.Generate(SmallSpec("a lighthouse", 7));
  ASSERT_TRUE(result.status.ok()) << result.status.error_message();
  EXPECT_THAT(result.faults, IsEmpty());
  ASSERT_TRUE(result.is_finished);
  EXPECT_THAT(result.accepted.name(), StartsWith("videos/"));
  EXPECT_EQ(result.finished.state(), v1::VIDEO_STATE_SUCCEEDED);
  EXPECT_EQ(result.finished.media().size_bytes(), static_cast<int64_t>(result.file.size()));
  EXPECT_EQ(result.finished.media().sha256(), Sha256Hex(result.file));
  const auto video = testing::Decode(result.file);
  ASSERT_TRUE(video.ok()) << video.status();
  EXPECT_EQ(video->luma.size(), 9U);
}

TEST(Streaming, EveryPrefixThatEndsWithAFragmentPlays) {
  ReelServer server;
  Calls calls(server.Connect());
  v1::VideoSpec spec = SmallSpec("waves", 3);
  spec.set_num_frames(49);
  const StreamResult result = calls.Generate(spec);
  ASSERT_TRUE(result.status.ok()) << result.status.error_message();
  ASSERT_GT(result.fragment_ends.size(), 3U);
  size_t seen = 0;
  for (const size_t end : result.fragment_ends) {
    const auto video = testing::Decode(result.file.substr(0, end));
    ASSERT_TRUE(video.ok()) << video.status() << " in the first " << end << " bytes";
    EXPECT_GT(video->luma.size(), seen);
    seen = video->luma.size();
  }
  EXPECT_EQ(seen, 49U);
}

TEST(Streaming, FirstBytesComeBeforeTheLastFrameIsDecoded) {
  ServerSetup setup;
  setup.config = R"(models { name: "slow-decode"
                             test_card { step_time { nanos: 1000000 }
                                         decode_time_per_frame { nanos: 40000000 } } })";
  ReelServer server(setup);
  Calls calls(server.Connect());
  v1::VideoSpec spec = SmallSpec("rain", 5);
  spec.set_num_frames(49);  // two seconds of decoding
  absl::Time first_media = absl::InfiniteFuture();
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = spec;
  const StreamResult result = calls.Generate(request, [&](const v1::VideoEvent& event) {
    if (event.has_media()) first_media = std::min(first_media, absl::Now());
    return true;
  });
  ASSERT_TRUE(result.status.ok()) << result.status.error_message();
  EXPECT_GT(absl::Now() - first_media, absl::Milliseconds(900));
}

TEST(Streaming, ManyWatchersAndLateOnesSeeTheSameFile) {
  ReelServer server;
  Calls calls(server.Connect());
  const StreamResult made = calls.Generate(SmallSpec("a fox", 11));
  ASSERT_TRUE(made.status.ok()) << made.status.error_message();
  v1::WatchVideoRequest watch;
  watch.set_name(made.accepted.name());
  const StreamResult replay = calls.Watch(watch);
  ASSERT_TRUE(replay.status.ok()) << replay.status.error_message();
  EXPECT_THAT(replay.faults, IsEmpty());
  EXPECT_EQ(replay.file, made.file);
  std::string downloaded;
  v1::MediaInfo media;
  ASSERT_TRUE(calls.Download(made.accepted.name(), 0, &downloaded, &media).ok());
  EXPECT_EQ(downloaded, made.file);
  EXPECT_EQ(media.sha256(), Sha256Hex(made.file));
}

TEST(Streaming, AStreamResumesAtAnyOffset) {
  ReelServer server;
  Calls calls(server.Connect());
  const StreamResult made = calls.Generate(SmallSpec("a bridge", 13));
  ASSERT_TRUE(made.status.ok()) << made.status.error_message();
  for (const size_t offset : {size_t{1}, made.file.size() / 2, made.file.size()}) {
    v1::WatchVideoRequest watch;
    watch.set_name(made.accepted.name());
    watch.set_after_sequence(1);
    watch.set_media_offset(static_cast<int64_t>(offset));
    watch.set_attempt(1);
    const StreamResult rest = calls.Watch(watch);
    ASSERT_TRUE(rest.status.ok()) << rest.status.error_message();
    EXPECT_THAT(rest.faults, IsEmpty());
    EXPECT_EQ(rest.file, made.file.substr(offset));
    std::string downloaded;
    EXPECT_TRUE(calls.Download(made.accepted.name(), watch.media_offset(), &downloaded).ok());
    EXPECT_EQ(downloaded, made.file.substr(offset));
  }
  v1::WatchVideoRequest beyond;
  beyond.set_name(made.accepted.name());
  beyond.set_media_offset(static_cast<int64_t>(made.file.size()) + 1);
  EXPECT_EQ(calls.Watch(beyond).status.error_code(), grpc::StatusCode::OUT_OF_RANGE);
}

TEST(Streaming, AResolvedSpecSentAgainGivesTheSameFile) {
  ReelServer server;
  Calls calls(server.Connect());
  v1::VideoSpec spec = SmallSpec("a kite");
  spec.clear_seed();
  const StreamResult first = calls.Generate(spec);
  ASSERT_TRUE(first.status.ok()) << first.status.error_message();
  ASSERT_TRUE(first.finished.spec().has_seed());
  const StreamResult second = calls.Generate(first.finished.spec());
  ASSERT_TRUE(second.status.ok()) << second.status.error_message();
  EXPECT_EQ(second.file, first.file);
  EXPECT_EQ(second.finished.spec().SerializeAsString(), first.finished.spec().SerializeAsString());
}

TEST(Streaming, WithoutMediaLeavesTheBytesForLater) {
  ReelServer server;
  Calls calls(server.Connect());
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = SmallSpec("a train", 17);
  request.set_without_media(true);
  const StreamResult result = calls.Generate(request);
  ASSERT_TRUE(result.status.ok()) << result.status.error_message();
  EXPECT_THAT(result.file, IsEmpty());
  std::string downloaded;
  ASSERT_TRUE(calls.Download(result.accepted.name(), 0, &downloaded).ok());
  EXPECT_EQ(Sha256Hex(downloaded), result.finished.media().sha256());
}

}  // namespace
}  // namespace reel::tests
