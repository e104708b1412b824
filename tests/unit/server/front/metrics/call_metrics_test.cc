// SPDX-License-Identifier: Apache-2.0
#include "server/front/metrics/call_metrics.h"

#include <gtest/gtest.h>

#include "server/front/metrics/metrics.h"
#include "tests/unit/server/front/metrics/scrape.h"

namespace reel::front {
namespace {

constexpr char kGet[] =
    "grpc_method=\"GetVideo\",grpc_service=\"reel.v1.VideoService\",grpc_type=\"unary\"";

TEST(CallMetrics, CountsCallsMessagesCodesAndTimes) {
  Metrics metrics({"1", "r", {}, {}});
  CallObserver& calls = metrics.calls();
  calls.CallStarted(Method::kGetVideo);
  calls.CallReceived(Method::kGetVideo);
  calls.CallEnded(Method::kGetVideo, absl::StatusCode::kNotFound, absl::Milliseconds(20));
  const std::string text = metrics.Text();
  EXPECT_EQ(ValueOf(text, std::string("grpc_server_started_total{") + kGet + "}"), 1);
  EXPECT_EQ(ValueOf(text, std::string("grpc_server_msg_received_total{") + kGet + "}"), 1);
  EXPECT_EQ(ValueOf(text, std::string("grpc_server_msg_sent_total{") + kGet + "}"), 0);
  EXPECT_EQ(
      ValueOf(text, std::string("grpc_server_handled_total{grpc_code=\"NOT_FOUND\",") + kGet + "}"),
      1);
  EXPECT_EQ(
      ValueOf(text, std::string("grpc_server_handling_seconds_bucket{") + kGet + ",le=\"0.005\"}"),
      0);
  EXPECT_EQ(
      ValueOf(text, std::string("grpc_server_handling_seconds_bucket{") + kGet + ",le=\"0.05\"}"),
      1);
}

TEST(CallMetrics, EveryMethodIsThereFromTheStartAndProbesHaveNoTimes) {
  Metrics metrics({"1", "r", {}, {}});
  const std::string text = metrics.Text();
  for (const MethodRow& row : AllMethods()) {
    const std::string labels = "grpc_method=\"" + std::string(row.name) + "\",grpc_service=\"" +
                               std::string(row.service) + "\",grpc_type=\"" +
                               (row.streams ? "server_stream" : "unary") + "\"}";
    EXPECT_EQ(ValueOf(text, "grpc_server_started_total{" + labels), 0) << labels;
    EXPECT_EQ(ValueOf(text, "grpc_server_handled_total{grpc_code=\"OK\"," + labels), 0) << labels;
    EXPECT_EQ(ValueOf(text, "grpc_server_handling_seconds_count{" + labels), row.measured ? 0 : -1)
        << labels;
  }
}

TEST(CallMetrics, FollowsStreams) {
  Metrics metrics({"1", "r", {}, {}});
  CallObserver& calls = metrics.calls();
  calls.StreamOpened();
  calls.StreamOpened();
  calls.StreamClosed();
  calls.StreamBuffered(100);
  calls.StreamBuffered(-60);
  calls.FirstEvent(absl::Milliseconds(3));
  calls.FirstChunk(absl::Milliseconds(300));
  calls.PreviewSent();
  calls.SlowReaderCut();
  const std::string text = metrics.Text();
  EXPECT_EQ(ValueOf(text, "reel_open_streams"), 1);
  EXPECT_EQ(ValueOf(text, "reel_stream_buffered_bytes"), 40);
  EXPECT_EQ(ValueOf(text, "reel_first_event_duration_seconds_bucket{le=\"0.0025\"}"), 0);
  EXPECT_EQ(ValueOf(text, "reel_first_event_duration_seconds_bucket{le=\"0.005\"}"), 1);
  EXPECT_EQ(ValueOf(text, "reel_first_chunk_duration_seconds_count"), 1);
  EXPECT_EQ(ValueOf(text, "reel_previews_total"), 1);
  EXPECT_EQ(ValueOf(text, "reel_slow_client_cuts_total"), 1);
}

}  // namespace
}  // namespace reel::front
