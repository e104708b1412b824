// SPDX-License-Identifier: Apache-2.0
// A video can be played while it is made.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/fakes/decoded_video.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

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

}  // namespace
}  // namespace reel::tests
