// SPDX-License-Identifier: Apache-2.0
// A video can be played while it is made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/functional/function_ref.h"
#include "tests/fakes/decoded_video.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

// Two seconds of video, in several fragments.
StreamResult Streamed(const ReelServer& server) {
  v1::VideoSpec spec = SmallSpec("waves", 3);
  spec.set_num_frames(49);
  StreamResult result = Calls(server.Connect()).Generate(spec);
  EXPECT_TRUE(result.status.ok()) << result.status.error_message();
  EXPECT_GT(result.fragment_ends.size(), 3U);
  return result;
}

// Each beginning of the file that ends with a fragment.
void EachPrefix(const StreamResult& result,
                absl::FunctionRef<void(const testing::DecodedVideo&)> check) {
  for (const size_t end : result.fragment_ends) {
    const auto video = testing::Decode(result.file.substr(0, end));
    ASSERT_TRUE(video.ok()) << video.status() << " in the first " << end << " bytes";
    check(*video);
  }
}

TEST(Streaming, EveryPrefixThatEndsWithAFragmentPlays) {
  ReelServer server;
  const StreamResult result = Streamed(server);
  size_t seen = 0;
  EachPrefix(result, [&](const testing::DecodedVideo& video) {
    EXPECT_GT(video.luma.size(), seen);
    seen = video.luma.size();
  });
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

ServerSetup HummingCard() {
  ServerSetup setup;
  setup.config =
      R"(models { name: "card" test_card { step_time { nanos: 1000000 } sound: true } })";
  return setup;
}

TEST(Streaming, EveryPrefixHasTheSoundOfItsPictures) {
  ReelServer server(HummingCard());
  const StreamResult result = Streamed(server);
  EachPrefix(result, [&](const testing::DecodedVideo& video) {
    EXPECT_EQ(video.sample_rate, 48'000);
    EXPECT_GE(video.sound.size() / 2, video.luma.size() * 2000);
  });
  EXPECT_TRUE(result.finished.media().has_sound());
  EXPECT_EQ(result.finished.media().sample_rate(), 48'000);
  EXPECT_THAT(result.finished.media().content_type(), ::testing::EndsWith(", mp4a.40.2\""));
}

TEST(Streaming, ARequestWithoutSoundHasTheFileOfASilentModel) {
  ReelServer humming(HummingCard()), silent;
  v1::VideoSpec spec = SmallSpec("waves", 3);
  const StreamResult without = Calls(silent.Connect()).Generate(spec);
  spec.set_sound(false);
  const StreamResult left_out = Calls(humming.Connect()).Generate(spec);
  ASSERT_TRUE(left_out.status.ok()) << left_out.status.error_message();
  EXPECT_EQ(left_out.file, without.file);
  EXPECT_FALSE(left_out.finished.media().has_sound());
  spec.set_sound(true);
  const StreamResult refused = Calls(silent.Connect()).Generate(spec);
  EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace reel::tests
