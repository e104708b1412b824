// SPDX-License-Identifier: Apache-2.0
// A server whose model has weights on the host, from the configuration to the videos.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/fakes/tiny_ltx.h"
#include "tests/integration/model_calls.h"

namespace reel::tests {
namespace {

using ::testing::HasSubstr;

class OffloadedWeights : public ::testing::Test {
 protected:
  std::string Config(const std::string& offload) const {
    return absl::StrCat("models { name: 'tiny' path: '", model_.path(), "' dtype: 'fp32' ", offload,
                        " }");
  }
  static std::string VideoOf(const ReelServer& server) {
    const StreamResult result = Calls(server.Connect()).Generate(TinyModelSpec(17));
    EXPECT_TRUE(result.status.ok()) << result.status.error_message();
    return result.file;
  }

  const model::ltx::TinyFolder model_{"0.9.0"};
};

TEST_F(OffloadedWeights, MakeTheSameFileAndAreToldWithTheModel) {
  ReelServer server({Config(""), {}, "", true});
  ModelCalls models(server);
  const v1::Model whole = models.Get("tiny");
  EXPECT_EQ(whole.host_bytes(), 0);
  EXPECT_EQ(whole.streamed_bytes(), 0);
  const std::string video = VideoOf(server);
  ASSERT_FALSE(video.empty());

  server.Reconfigure(Config("offload { text: 'host' resident_blocks: 0 }"));
  ASSERT_TRUE(Eventually([&] { return models.Get("tiny").streamed_bytes() > 0; }));
  const v1::Model streaming = models.Get("tiny");
  EXPECT_GT(streaming.host_bytes(), streaming.streamed_bytes());
  EXPECT_LT(streaming.weight_bytes(), whole.weight_bytes());
  EXPECT_EQ(VideoOf(server), video);
  const ProgramResult shown =
      RunProgram(BinaryPath("reel"), {"--server", server.address(), "models"});
  EXPECT_THAT(shown.out, HasSubstr(" on the host")) << shown.errors;
}

TEST_F(OffloadedWeights, OfBlocksThatTheModelHasNotAreRefused) {
  ReelServer server({Config("offload { resident_blocks: 3 }"), {}, "", false});
  ModelCalls models(server);
  ASSERT_TRUE(Eventually([&] { return !models.Get("tiny").problem().empty(); }));
  EXPECT_THAT(models.Get("tiny").problem(),
              HasSubstr("resident_blocks is 3; the transformer has 2 blocks"));
}

}  // namespace
}  // namespace reel::tests
