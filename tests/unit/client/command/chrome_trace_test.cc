// SPDX-License-Identifier: Apache-2.0
#include "client/command/chrome_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "client/command/quantity.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "tests/unit/client/command/command_fixture.h"

namespace reel::client {
namespace {

struct TraceEvent {
  std::string name;
  int track = 0;
  double start = 0, length = 0;  // microseconds
  double end() const { return start + length; }
};

// The spans of a trace; a failure when it is no JSON.
std::vector<TraceEvent> SpansOfTrace(const std::string& json) {
  google::protobuf::Struct trace;
  const auto parsed = google::protobuf::util::JsonStringToMessage(json, &trace);
  EXPECT_TRUE(parsed.ok()) << parsed.ToString() << json;
  std::vector<TraceEvent> spans;
  for (const auto& value : trace.fields().at("traceEvents").list_value().values()) {
    const auto& fields = value.struct_value().fields();
    if (fields.at("ph").string_value() != "X") continue;
    spans.push_back({fields.at("name").string_value(),
                     static_cast<int>(fields.at("tid").number_value()),
                     fields.at("ts").number_value(), fields.at("dur").number_value()});
  }
  return spans;
}

v1::Video TracedVideo() {
  v1::Video video;
  video.set_name("videos/\"a\"");
  v1::RunStats& stats = *video.mutable_stats();
  *stats.mutable_total() = ToProto(absl::Milliseconds(100));
  double start = 0;
  const auto span = [&](v1::RunPart part, double ms, int step, bool timed) {
    v1::PartSpan& added = *stats.add_spans();
    added.set_part(part);
    *added.mutable_start() = ToProto(absl::Milliseconds(start));
    *added.mutable_duration() = ToProto(absl::Milliseconds(ms));
    added.set_step(step);
    added.set_timed(timed);
    start += ms;
  };
  span(v1::RUN_PART_QUEUE, 10, 0, false);
  span(v1::RUN_PART_TEXT, 20, 0, true);
  span(v1::RUN_PART_DENOISE, 10, 1, false);
  span(v1::RUN_PART_DENOISE, 10, 2, true);
  span(v1::RUN_PART_DENOISE, 30, 3, true);
  span(v1::RUN_PART_FILE, 20, 0, false);
  const auto cost = [&](v1::RunPart part, const std::string& op, double ms) {
    v1::OperatorCost& added = *stats.add_operators();
    added.set_part(part);
    added.set_op(op);
    added.set_variant(op == "gaps" ? "" : "aten");
    added.set_calls(4);
    *added.mutable_timed() = ToProto(absl::Milliseconds(ms));
  };
  cost(v1::RUN_PART_TEXT, "linear", 18);
  cost(v1::RUN_PART_DENOISE, "attention", 12);
  cost(v1::RUN_PART_DENOISE, "linear", 20);
  cost(v1::RUN_PART_DENOISE, "gaps", 8);
  return video;
}

TEST(ChromeTrace, SpansLieWithinTheRequestAndDoNotOverlap) {
  const auto spans = SpansOfTrace(ChromeTrace(TracedVideo(), absl::Milliseconds(130)));
  ASSERT_FALSE(spans.empty());
  EXPECT_EQ(spans[0].name, "request");
  EXPECT_NEAR(spans[0].length, 130'000, 1);
  std::map<int, double> end;
  std::map<std::string, double> sums;
  for (size_t i = 1; i < spans.size(); ++i) {
    const TraceEvent& span = spans[i];
    EXPECT_GE(span.start, end[span.track] - 0.01) << span.name;
    EXPECT_LE(span.end(), spans[0].end() + 0.01) << span.name;
    end[span.track] = span.end();
    sums[std::to_string(span.track) + " " + span.name] += span.length;
  }
  EXPECT_NEAR(sums["1 queue"], 10'000, 1);
  EXPECT_NEAR(sums["1 step 2"], 10'000, 1);
  EXPECT_NEAR(sums["1 step 3"], 30'000, 1);
  EXPECT_NEAR(sums["1 delivery"], 30'000, 1);
  // What was timed, over the pieces that were.
  EXPECT_NEAR(sums["2 linear"], 38'000, 2);
  EXPECT_NEAR(sums["2 attention"], 12'000, 2);
}

TEST(ChromeTrace, OperatorsLieWithinTimedPieces) {
  const auto spans = SpansOfTrace(ChromeTrace(TracedVideo(), absl::ZeroDuration()));
  for (const TraceEvent& op : spans) {
    if (op.track != 2) continue;
    const bool within = std::any_of(spans.begin(), spans.end(), [&](const TraceEvent& piece) {
      const bool timed = piece.name == "text" || piece.name == "step 2" || piece.name == "step 3";
      return timed && piece.track == 1 && op.start >= piece.start - 0.01 &&
             op.end() <= piece.end() + 0.01;
    });
    EXPECT_TRUE(within) << op.name << " at " << op.start;
  }
}

using TraceCommandTest = CommandTest;

TEST_F(TraceCommandTest, GenerateWritesATraceAndSaysWhereTheTimeWent) {
  v1::RunStats stats;
  *stats.mutable_total() = ToProto(absl::Milliseconds(100));
  v1::PartTime& part = *stats.add_parts();
  part.set_part(v1::RUN_PART_DENOISE);
  *part.mutable_time() = ToProto(absl::Milliseconds(100));
  server_.SetStats(stats);
  const std::string path = folder_ + "/a.mp4", trace = folder_ + "/trace.json";
  EXPECT_EQ(Run({"generate", "x", "-o", path, "--profile", "--trace", trace}), 0);
  EXPECT_EQ(out_, path + "\n");
  EXPECT_NE(err_.find("denoise  100 ms  100.0 %"), std::string::npos) << err_;
  EXPECT_EQ(SpansOfTrace(ReadAll(trace)).at(0).name, "request");
  EXPECT_EQ(Run({"generate", "x", "-o", path, "--trace", folder_ + "/no/trace.json"}), 3);
  EXPECT_NE(err_.find("Cannot write the trace"), std::string::npos);
}

}  // namespace
}  // namespace reel::client
