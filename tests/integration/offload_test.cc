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
  static StreamResult VideoOf(const ReelServer& server) {
    StreamResult result = Calls(server.Connect()).Generate(TinyModelSpec(17));
    EXPECT_TRUE(result.is_finished) << result.status.error_message();
    return result;
  }

  const model::ltx::TinyFolder model_{"0.9.0"};
};

TEST_F(OffloadedWeights, MakeTheSameFileAndAreToldWithTheModel) {
  ReelServer server({Config(""), {}, "", true});
  ModelCalls models(server);
  const v1::Model whole = models.Get("tiny");
  EXPECT_EQ(whole.host_bytes(), 0);
  EXPECT_EQ(whole.streamed_bytes(), 0);
  const StreamResult video = VideoOf(server);
  ASSERT_FALSE(video.file.empty());
  EXPECT_EQ(video.finished.stats().stream_stall().nanos(), 0);
  EXPECT_EQ(server.Metric("reel_weights_host_bytes"), 0);

  server.Reconfigure(Config("offload { text: 'host' resident_blocks: 0 }"));
  ASSERT_TRUE(Eventually([&] { return models.Get("tiny").streamed_bytes() > 0; }));
  const v1::Model streaming = models.Get("tiny");
  EXPECT_GT(streaming.host_bytes(), streaming.streamed_bytes());
  EXPECT_LT(streaming.weight_bytes(), whole.weight_bytes());
  const StreamResult streamed = VideoOf(server);
  EXPECT_EQ(streamed.file, video.file);
  EXPECT_GT(streamed.finished.stats().stream_stall().nanos(), 0);
  EXPECT_GT(server.Metric("reel_weights_stall_seconds_total"), 0);
  EXPECT_EQ(server.Metric("reel_weights_host_bytes"), streaming.host_bytes());
  v1::GetServerInfoResponse info;
  grpc::ClientContext context;
  ASSERT_TRUE(Calls(server.Connect()).server().GetServerInfo(&context, {}, &info).ok());
  EXPECT_EQ(info.workers(0).copy_bytes_per_second(), 0) << "a CPU has no link to measure";
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
