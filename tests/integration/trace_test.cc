// SPDX-License-Identifier: Apache-2.0
// Traces as a collector gets them from the real server. They sum to the bill, join their callers'
// traces, contain nothing that callers wrote, and cost nothing when the collector is away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/fakes/temp_folder.h"
#include "tests/fakes/trace_receiver.h"
#include "tests/integration/bill_check.h"
#include "tests/integration/calls.h"
#include "tests/integration/certificate_authority.h"
#include "tests/integration/door_client.h"

namespace reel::tests {
namespace {

using nlohmann::json;
using reel::testing::TraceReceiver;

std::string Tracing(const std::string& endpoint, const std::string& more = "") {
  return absl::StrCat(SlowConfig(10), "\ntelemetry { otlp_endpoint: '", endpoint, "' ", more, "}");
}

// The spans of each trace that came so far, by trace id, the whole first.
std::map<std::string, std::vector<json>> TracesIn(TraceReceiver& receiver) {
  std::map<std::string, std::vector<json>> traces;
  for (const auto& received : receiver.Received()) {
    EXPECT_EQ(received.path, "/v1/traces");
    EXPECT_EQ(received.content_type, "application/json");
    const json body = json::parse(received.body);
    for (const json& resource : body.at("resourceSpans")) {
      for (const json& scope : resource.at("scopeSpans")) {
        for (const json& span : scope.at("spans")) traces[span.at("traceId")].push_back(span);
      }
    }
  }
  return traces;
}

// Waits for it, too.
std::vector<json> TraceOf(TraceReceiver& receiver, const std::string& trace_id) {
  std::vector<json> spans;
  EXPECT_TRUE(Eventually([&] {
    spans = TracesIn(receiver)[trace_id];
    return !spans.empty();
  })) << "no trace "
      << trace_id;
  return spans;
}

json ValueOf(const json& attributes, const std::string& key) {
  for (const json& attribute : attributes) {
    if (attribute.at("key") == key) return attribute.at("value").begin().value();
  }
  return nullptr;
}

int64_t Nanoseconds(const json& span, const char* key) {
  return std::stoll(span.at(key).get<std::string>());
}

double SecondsOf(const std::vector<json>& spans) {
  double sum = 0;
  for (const json& span : spans) {
    const json part = ValueOf(span.at("attributes"), "reel.seconds");
    if (!part.is_null()) sum += part.get<double>();
  }
  for (const json& attribute : spans.front().at("attributes")) {
    const std::string key = attribute.at("key");
    if (absl::EndsWith(key, "_seconds") && key != "reel.device_seconds") {
      sum += attribute.at("value").at("doubleValue").get<double>();
    }
  }
  return sum;
}

v1::VideoSpec Steps(int steps, const std::string& prompt = "x") {
  v1::VideoSpec spec = SmallSpec(prompt);
  spec.set_num_inference_steps(steps);
  return spec;
}

// How long it took.
absl::Duration Stop(ReelServer& server) {
  const absl::Time begin = absl::Now();
  server.Signal(SIGTERM);
  const auto status = server.WaitForExit();
  EXPECT_TRUE(status.ok() && *status == 0);
  return absl::Now() - begin;
}

TEST(Traces, SumToTheBillOfTheirVideos) {
  TraceReceiver receiver;
  ReelServer server({Tracing(receiver.endpoint()), {}, "", true});
  Calls calls(server.Connect());
  std::vector<std::string> names;
  for (int i = 0; i < 4; ++i) names.push_back(calls.Create(Steps(4 + 4 * i)).name());
  double worst = 0;
  for (const std::string& name : names) {
    const v1::Video video = calls.Await(name);
    ASSERT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED);
    const std::vector<json> spans = TraceOf(receiver, video.trace_id());
    const json& whole = spans.front();
    EXPECT_EQ(whole.at("name"), "request");
    EXPECT_EQ(ValueOf(whole.at("attributes"), "reel.video"), name);
    EXPECT_EQ(whole.at("status").at("code"), 1);
    const double total = absl::ToDoubleSeconds(FromProtoDuration(video.stats().total()));
    const int64_t start = Nanoseconds(whole, "startTimeUnixNano");
    const int64_t end = Nanoseconds(whole, "endTimeUnixNano");
    EXPECT_NEAR(static_cast<double>(end - start) * 1e-9, total, 1e-6);
    worst = std::max(worst, std::abs(SecondsOf(spans) - total) / total);
    std::map<std::string, int> parts;
    for (const json& span : spans) {
      ++parts[span.at("name")];
      EXPECT_GE(Nanoseconds(span, "startTimeUnixNano"), start);
      EXPECT_LE(Nanoseconds(span, "endTimeUnixNano"), end + 1000);
      if (span.at("name") == "denoise") {
        EXPECT_EQ(static_cast<int>(span.at("events").size()), video.spec().num_inference_steps());
      }
      if (span != whole) {
        EXPECT_EQ(span.at("parentSpanId"), whole.at("spanId"));
      }
    }
    for (const char* part : {"queue", "text", "denoise", "decode", "deliver"}) {
      EXPECT_GE(parts[part], 1) << part << " of " << name;
    }
  }
  EXPECT_LE(worst, 1e-6);
  EXPECT_TRUE(Eventually([&] { return server.Metric("reel_traces_total", "sent") >= 4; }));
  EXPECT_EQ(server.Metric("reel_traces_total"), 4);
  std::cout << "FIGURE: spans of 4 traces against the bills of their videos: " << worst * 100
            << " % off at most\n";
}

constexpr char kCallers[] = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr char kNotRecorded[] = "5bf92f3577b34da6a3ce929d0e0e4736";

TEST(Traces, BelongToTheTracesOfTheirCallersByBothDoors) {
  TraceReceiver receiver;
  ServerSetup setup = WithDoor(Tracing(receiver.endpoint()));
  ReelServer server(setup);
  Calls calls(server.Connect());
  const auto create = [&](const std::string& traceparent) {
    grpc::ClientContext context;
    context.AddMetadata("traceparent", traceparent);
    v1::CreateVideoRequest request;
    *request.mutable_spec() = Steps(2);
    v1::CreateVideoResponse response;
    EXPECT_TRUE(calls.videos().CreateVideo(&context, request, &response).ok());
    return response.video().name();
  };
  const std::string not_recorded =
      create(std::string("00-") + kNotRecorded + "-00f067aa0ba902b7-00");
  calls.Await(not_recorded);
  const std::string recorded = create(std::string("00-") + kCallers + "-00f067aa0ba902b7-01");
  calls.Await(recorded);
  const json whole = TraceOf(receiver, kCallers).front();
  EXPECT_EQ(whole.at("parentSpanId"), "00f067aa0ba902b7");
  EXPECT_EQ(ValueOf(whole.at("attributes"), "rpc.method"), "CreateVideo");

  const std::string over_http = "6bf92f3577b34da6a3ce929d0e0e4736";
  httplib::Client client = ClientOf(server.http_address());
  const auto created =
      client.Post("/reel/v1/videos", {{"traceparent", "00-" + over_http + "-a0f067aa0ba902b7-01"}},
                  BodyOfSpec(ClipSpec(2)), "application/json");
  ASSERT_TRUE(created && created->status == 200);
  EXPECT_EQ(TraceOf(receiver, over_http).front().at("parentSpanId"), "a0f067aa0ba902b7");
  // It ended before the others, whose traces are here.
  EXPECT_EQ(TracesIn(receiver).count(kNotRecorded), 0U);
}

TEST(Traces, OfFailuresNameTheReasonAndNothingThatACallerWrote) {
  TraceReceiver receiver;
  ServerSetup setup;
  setup.config = absl::StrCat(FaultyConfig("nan", 2, "canary4711"),
                              "\ntelemetry { otlp_endpoint: '", receiver.endpoint(), "' }");
  ReelServer server(setup);
  Calls calls(server.Connect());
  v1::CreateVideoRequest request;
  *request.mutable_spec() = Steps(4, "canary4711 prompt");
  request.mutable_spec()->set_negative_prompt("canary4711 negative");
  (*request.mutable_labels())["canary4711"] = "canary4711";
  v1::CreateVideoResponse response;
  grpc::ClientContext context;
  context.AddMetadata("tracestate", "vendor=canary4711");
  ASSERT_TRUE(calls.videos().CreateVideo(&context, request, &response).ok());
  const v1::Video video = calls.Await(response.video().name());
  ASSERT_EQ(video.state(), v1::VIDEO_STATE_FAILED);
  const json whole = TraceOf(receiver, video.trace_id()).front();
  EXPECT_EQ(whole.at("status"), json({{"code", 2}, {"message", "NUMERICAL_FAULT"}}));
  for (const auto& received : receiver.Received()) {
    EXPECT_THAT(received.body, ::testing::Not(::testing::HasSubstr("canary")));
  }
}

// A collector elsewhere: TLS by an authority of its own, credentials, packed bodies.
TEST(Traces, GoEncryptedToACollectorThatWantsCredentials) {
  const CertificateAuthority authority, stranger;
  const Identity identity = authority.Issue("collector");
  TraceReceiver receiver(identity.certificate, identity.key);
  const testing::TempFolder folder;
  const std::string headers = folder.Write("headers", "Authorization: Bearer canary4711\n");
  std::filesystem::permissions(headers, std::filesystem::perms(0600));
  const auto tracing = [&](const CertificateAuthority& trusted) {
    return Tracing(receiver.endpoint(), absl::StrCat("otlp_ca_file: '", trusted.root(),
                                                     "' otlp_headers_file: '", headers, "' "));
  };
  {
    ReelServer server({tracing(authority), {}, "", true});
    Calls calls(server.Connect());
    const v1::Video video = calls.Await(calls.Create(Steps(8)).name());
    EXPECT_EQ(TraceOf(receiver, video.trace_id()).front().at("name"), "request");
    EXPECT_EQ(receiver.Received().front().authorization, "Bearer canary4711");
    EXPECT_EQ(receiver.Received().front().encoding, "gzip");
    EXPECT_TRUE(Eventually([&] { return server.Metric("reel_traces_total", "sent") >= 1; }));
    EXPECT_THAT(server.Log(), ::testing::Not(::testing::HasSubstr("canary4711")));
  }
  const size_t before = receiver.Received().size();
  ReelServer server({tracing(stranger), {}, "", true});
  Calls calls(server.Connect());
  calls.Await(calls.Create(Steps(2)).name());
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(server.Log(), "Traces cannot be sent"); }));
  EXPECT_THAT(server.Log(), ::testing::HasSubstr("certificate"));
  EXPECT_EQ(receiver.Received().size(), before);
}

TEST(Traces, ACollectorThatIsAwayCostsNothing) {
  // Its port is known, and nobody is there any more.
  std::string endpoint = std::make_unique<TraceReceiver>()->endpoint();
  ReelServer server({Tracing(endpoint), {}, "", true});
  Calls calls(server.Connect());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(calls.Await(calls.Create(Steps(2)).name()).state(), v1::VIDEO_STATE_SUCCEEDED);
  }
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(server.Log(), "Traces cannot be sent"); }));
  EXPECT_EQ(server.Metric("reel_traces_total"), 0);
  std::cout << "FIGURE: a stop with three traces that nobody takes: " << Stop(server) << "\n";
}

TEST(Traces, OfTheLastVideosLeaveBeforeTheServerDoes) {
  TraceReceiver receiver;
  ReelServer server({Tracing(receiver.endpoint()), {}, "", true});
  Calls calls(server.Connect());
  const v1::Video video = calls.Await(calls.Create(Steps(2)).name());
  Stop(server);
  EXPECT_EQ(TracesIn(receiver).count(video.trace_id()), 1U);
}

TEST(Traces, GoNowhereUnlessToldTo) {
  ReelServer server({SlowConfig(10), {}, "", true});
  Calls calls(server.Connect());
  calls.Await(calls.Create(Steps(2)).name());
  EXPECT_EQ(server.Metric("reel_traces_total"), 0);
  std::cout << "FIGURE: a stop without traces: " << Stop(server) << "\n";
}

}  // namespace
}  // namespace reel::tests
