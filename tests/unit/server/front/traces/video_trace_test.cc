// SPDX-License-Identifier: Apache-2.0
#include "server/front/traces/video_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "server/errors/error.h"
#include "server/front/traces/otlp.h"
#include "tests/unit/server/front/traces/ended_video.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const AttributeValue* Find(const Attributes& attributes, const std::string& key) {
  for (const Attribute& attribute : attributes) {
    if (attribute.key == key) return &attribute.value;
  }
  return nullptr;
}

double NumberOf(const Attributes& attributes, const std::string& key) {
  const AttributeValue* found = Find(attributes, key);
  EXPECT_NE(found, nullptr) << key;
  return found == nullptr ? -1 : std::get<double>(*found);
}

std::string TextOf(const Span& span, const std::string& key) {
  const AttributeValue* found = Find(span.attributes, key);
  EXPECT_NE(found, nullptr) << key;
  return found == nullptr ? "" : std::get<std::string>(*found);
}

std::vector<std::string> Names(const Trace& trace) {
  std::vector<std::string> names;
  for (const Span& span : trace) names.push_back(span.name);
  return names;
}

const Span& Named(const Trace& trace, const std::string& name) {
  for (const Span& span : trace) {
    if (span.name == name) return span;
  }
  ADD_FAILURE() << "there is no " << name;
  return trace.front();
}

double SumOf(const Trace& trace) {
  double sum = 0;
  for (const Span& span : trace) {
    if (!span.at_the_door) sum += NumberOf(span.attributes, "reel.seconds");
  }
  for (const Attribute& attribute : trace.front().attributes) {
    const bool part = attribute.key == "reel.wait_seconds" || attribute.key == "reel.queue_seconds";
    if (part) sum += std::get<double>(attribute.value);
  }
  return sum;
}

TEST(VideoTrace, HasASpanForEachPartOfTheBillAndTheySumToIt) {
  const Video video = EndedVideo();
  const Trace trace = TraceOf(video, false);
  EXPECT_THAT(Names(trace), ElementsAre("request", "queue", "handover", "handover", "text",
                                        "denoise", "decode", "deliver"));
  EXPECT_NEAR(SumOf(trace), 2, 1e-9);
  const Span& whole = trace.front();
  EXPECT_EQ(whole.start, video.create_time);
  EXPECT_EQ(whole.end, video.create_time + absl::Seconds(2));
  std::set<std::string> ids;
  for (const Span& span : trace) {
    EXPECT_EQ(span.trace_id, kTrace);
    EXPECT_EQ(span.id.size(), 16U);
    EXPECT_TRUE(ids.insert(span.id).second) << span.name;
    EXPECT_GE(span.start, whole.start);
    EXPECT_LE(span.end, whole.end);
    EXPECT_GE(span.end, span.start);
    EXPECT_EQ(span.parent, span.at_the_door ? "" : whole.id);
  }
}

TEST(VideoTrace, StepsAreEventsOfOneSpan) {
  const Trace trace = TraceOf(EndedVideo(), false);
  const Span& denoise = Named(trace, "denoise");
  ASSERT_EQ(denoise.events.size(), 3U);
  EXPECT_EQ(denoise.end - denoise.start, absl::Milliseconds(1100));
  EXPECT_DOUBLE_EQ(NumberOf(denoise.attributes, "reel.seconds"), 0.9);
  const SpanEvent& second = denoise.events[1];
  EXPECT_EQ(second.time - denoise.start, absl::Milliseconds(400));
  EXPECT_EQ(std::get<int64_t>(*Find(second.attributes, "reel.step")), 2);
  EXPECT_EQ(std::get<int64_t>(*Find(second.attributes, "reel.videos")), 2);
  EXPECT_TRUE(std::get<bool>(*Find(second.attributes, "reel.timed")));
  EXPECT_DOUBLE_EQ(NumberOf(denoise.attributes, "reel.operator.rms_norm.sm90.seconds"), 0.03);
  EXPECT_DOUBLE_EQ(NumberOf(denoise.attributes, "reel.operator.gaps.seconds"), 0.02);
  EXPECT_EQ(Find(denoise.attributes, "reel.operator.conv3d.cudnn.seconds"), nullptr);
  EXPECT_DOUBLE_EQ(
      NumberOf(Named(trace, "decode").attributes, "reel.operator.conv3d.cudnn.seconds"), 0.4);
}

TEST(VideoTrace, WorkThatWasPutOffIsOneSpanWithItsOperators) {
  Video video = EndedVideo();
  video.stats->spans.push_back(
      {model::RunPart::kDecode, absl::Milliseconds(1890), absl::Milliseconds(5)});
  const Trace trace = TraceOf(video, false);
  EXPECT_THAT(Names(trace), ElementsAre("request", "queue", "handover", "handover", "text",
                                        "denoise", "decode", "deliver"));
  const Span& decode = Named(trace, "decode");
  EXPECT_EQ(decode.end - decode.start, absl::Milliseconds(515));
  EXPECT_DOUBLE_EQ(NumberOf(decode.attributes, "reel.seconds"), 0.5);
  EXPECT_NE(Find(decode.attributes, "reel.operator.conv3d.cudnn.seconds"), nullptr);
}

TEST(VideoTrace, ManyStretchesOfAPartAreOneSpanAndOnesWithoutAPlaceAreStillCounted) {
  Video video = EndedVideo();
  for (int i = 0; i < 600; ++i) {
    video.stats->spans.push_back(
        {model::RunPart::kPreview, absl::Milliseconds(280 + i), absl::Microseconds(10)});
  }
  video.stats->parts.push_back({model::RunPart::kPreview, absl::Milliseconds(6)});
  std::erase_if(video.stats->spans,
                [](const auto& span) { return span.part == model::RunPart::kQueue; });
  const Trace trace = TraceOf(video, false);
  EXPECT_LT(trace.size(), 10U);
  EXPECT_NEAR(SumOf(trace), 2.006, 1e-9);
  EXPECT_DOUBLE_EQ(NumberOf(trace.front().attributes, "reel.queue_seconds"), 0.1);
}

TEST(VideoTrace, OfALongRunIsBounded) {
  Video video = EndedVideo();
  for (int i = 0; i < 512; ++i) {
    video.stats->spans.push_back({model::RunPart::kDenoise, absl::Milliseconds(280 + i),
                                  absl::Milliseconds(1), i + 1, 1, true});
  }
  const absl::Time begin = absl::Now();
  const Trace trace = TraceOf(video, false);
  std::cout << "FIGURE: the trace of a video with 515 steps: " << absl::Now() - begin << ", "
            << OtlpJson({trace}, {}).size() << " bytes\n";
  EXPECT_EQ(Named(trace, "denoise").events.size(), 515U);
  EXPECT_EQ(trace.size(), 8U);
}

TEST(VideoTrace, IsPutUnderTheCallersSpan) {
  Video video = EndedVideo();
  video.caller_span = {"00f067aa0ba902b7", true};
  const Trace trace = TraceOf(video, true);
  EXPECT_EQ(trace.front().parent, "00f067aa0ba902b7");
  EXPECT_EQ(TextOf(trace.front(), "rpc.method"), "CreateVideo");
  EXPECT_EQ(TextOf(TraceOf(video, false).front(), "rpc.method"), "GenerateVideo");
  // A trace that is sent twice is the same one.
  EXPECT_EQ(TraceOf(video, true)[3].id, trace[3].id);
}

TEST(VideoTrace, OfAFailureNamesItsReasonAndOfOneWithoutABillOnlyTheWhole) {
  Video video = EndedVideo();
  video.state = VideoState::kFailed;
  video.error = MakeError(Reason::kNumericalFault, "canary message");
  EXPECT_EQ(TraceOf(video, false).front().error, "NUMERICAL_FAULT");
  video.stats.reset();
  video.error = absl::InternalError("canary");
  const Trace bare = TraceOf(video, false);
  ASSERT_EQ(bare.size(), 1U);
  EXPECT_EQ(bare[0].end, video.end_time);
  EXPECT_FALSE(bare[0].error.empty());
}

TEST(VideoTrace, HasNothingThatTheCallerWrote) {
  Video video = EndedVideo();
  video.state = VideoState::kFailed;
  video.error = MakeError(Reason::kNumericalFault, "canary message");
  EXPECT_THAT(OtlpJson({TraceOf(video, false)}, {}),
              ::testing::AllOf(HasSubstr("NUMERICAL_FAULT"), Not(HasSubstr("canary"))));
}

TEST(IsTraced, AsTheCallerSays) {
  Video video = EndedVideo();
  video.caller_span.sampled = true;
  EXPECT_TRUE(IsTraced(video, 0));
  video.caller_span.sampled = false;
  EXPECT_FALSE(IsTraced(video, 1));
  video.caller_span.sampled.reset();
  EXPECT_TRUE(IsTraced(video, 1));
  EXPECT_FALSE(IsTraced(video, 0));
  video.trace_id.clear();
  EXPECT_FALSE(IsTraced(video, 1)) << "one of a database from before there were trace ids";
}

TEST(IsTraced, ElseByAShareOfTheIds) {
  Video video = EndedVideo();
  int traced = 0;
  uint64_t state = 42;
  for (int i = 0; i < 10'000; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    video.trace_id = absl::StrFormat("4bf92f3577b34da6%016x", state);
    const bool chosen = IsTraced(video, 0.25);
    EXPECT_EQ(chosen, IsTraced(video, 0.25));
    EXPECT_TRUE(!chosen || IsTraced(video, 0.5)) << "a greater share has the smaller one's";
    traced += chosen ? 1 : 0;
  }
  // Four standard deviations.
  EXPECT_NEAR(traced, 2500, 175);
}

}  // namespace
}  // namespace reel::front
