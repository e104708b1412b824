// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "server/front/traces/otlp.h"
#include "server/front/traces/video_trace.h"
#include "tests/unit/server/front/traces/ended_video.h"

namespace reel::front {
namespace {

using Json = nlohmann::json;

TEST(OtlpJson, IsWhatOpenTelemetryWrites) {
  Span span;
  span.trace_id = kTrace;
  span.id = "00f067aa0ba902b7";
  span.parent = "00f067aa0ba902b8";
  span.name = "decode";
  span.start = absl::FromUnixNanos(1'800'000'000'123'456'789);
  span.end = span.start + absl::Nanoseconds(1);
  span.attributes = {{"s", std::string("x")}, {"i", int64_t{7}}, {"d", 0.5}, {"b", true}};
  span.events = {{"step", span.start, {{"reel.step", int64_t{1}}}}};
  const Json expected = Json::parse(R"({"resourceSpans": [{
    "resource": {"attributes": [
      {"key": "service.name", "value": {"stringValue": "reel"}},
      {"key": "service.version", "value": {"stringValue": "1.2"}},
      {"key": "service.instance.id", "value": {"stringValue": "r1"}}]},
    "scopeSpans": [{
      "scope": {"name": "reel", "version": "1.2"},
      "spans": [{
        "traceId": "4bf92f3577b34da6a3ce929d0e0e4736", "spanId": "00f067aa0ba902b7",
        "parentSpanId": "00f067aa0ba902b8", "name": "decode", "kind": 1,
        "startTimeUnixNano": "1800000000123456789", "endTimeUnixNano": "1800000000123456790",
        "attributes": [
          {"key": "s", "value": {"stringValue": "x"}}, {"key": "i", "value": {"intValue": "7"}},
          {"key": "d", "value": {"doubleValue": 0.5}}, {"key": "b", "value": {"boolValue": true}}],
        "events": [{"timeUnixNano": "1800000000123456789", "name": "step",
                    "attributes": [{"key": "reel.step", "value": {"intValue": "1"}}]}]}]}]}]})");
  EXPECT_EQ(Json::parse(OtlpJson({{span}}, {"1.2", "r1"})), expected);
}

TEST(OtlpJson, SaysWhetherTheWholeSucceeded) {
  Video video = EndedVideo();
  const auto status = [&video] {
    const Json body = Json::parse(OtlpJson({TraceOf(video, false)}, {"1", ""}));
    const Json& part = body["resourceSpans"][0];
    EXPECT_EQ(part["resource"]["attributes"].size(), 2U) << "an instance without a name";
    const Json& spans = part["scopeSpans"][0]["spans"];
    EXPECT_EQ(spans[0]["kind"], 2);
    EXPECT_FALSE(spans[0].contains("parentSpanId"));
    EXPECT_FALSE(spans[1].contains("status"));
    return spans[0]["status"];
  };
  EXPECT_EQ(status(), Json({{"code", 1}}));
  video.state = VideoState::kFailed;
  EXPECT_EQ(status(), Json({{"code", 2}, {"message", "UNKNOWN"}}));
}

TEST(OtlpJson, BytesThatAreNoTextEndNothing) {
  Span span;
  span.name = "\xff";
  EXPECT_TRUE(Json::accept(OtlpJson({{span}}, {})));
}

TEST(OtlpReply, TellsWhatWasLeftOut) {
  EXPECT_EQ(ReadOtlpReply(R"({"partialSuccess": {"rejectedSpans": "7"}})").rejected_spans, 7);
  EXPECT_EQ(ReadOtlpReply(R"({"partialSuccess": {"rejectedSpans": 7}})").rejected_spans, 7);
  const std::string long_text(1000, 'x');
  EXPECT_EQ(ReadOtlpReply(R"({"partialSuccess": {"errorMessage": ")" + long_text + "\"}}").message,
            long_text.substr(0, 200));
}

TEST(OtlpReply, AnythingElseLeavesNothingOut) {
  for (const char* text :
       {"", "{}", "[]", "\x0a\x02\x08\x01", R"({"partialSuccess": {}})", R"({"partialSuccess": 1})",
        R"({"partialSuccess": {"rejectedSpans": "x", "errorMessage": 1}})",
        R"({"partialSuccess": {"rejectedSpans": -1}})",
        R"({"partialSuccess": {"rejectedSpans": 0.5}})"}) {
    const OtlpReply reply = ReadOtlpReply(text);
    EXPECT_EQ(reply.rejected_spans, 0) << text;
    EXPECT_EQ(reply.message, "") << text;
  }
}

}  // namespace
}  // namespace reel::front
