// SPDX-License-Identifier: Apache-2.0
// Every job explains itself: where its time went, and one line of the log however it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <iostream>
#include <thread>

#include "absl/strings/str_split.h"
#include "tests/integration/bill_check.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

v1::VideoSpec BilledSpec(const std::string& prompt, int steps) {
  v1::VideoSpec spec = SmallSpec(prompt);
  spec.set_num_inference_steps(steps);
  return spec;
}

// The lines with this message about this video.
std::vector<std::string> LinesOf(const ReelServer& server, const std::string& name,
                                 const std::string& message) {
  const std::string id = name.substr(name.find('/') + 1);
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(server.Log(), '\n')) {
    const std::string text(line);
    // The end of what has been read so far may be half a line.
    if (text.empty() || text.back() != '}') continue;
    if (text.find("\"msg\":\"" + message + "\"") == std::string::npos) continue;
    if (text.find("\"video\":\"" + id + "\"") != std::string::npos) lines.push_back(text);
  }
  return lines;
}

std::vector<std::string> EndLines(const ReelServer& server, const std::string& name) {
  return LinesOf(server, name, "A video ended");
}

TEST(Bill, PartsSumToTheTotal) {
  ReelServer server({SlowConfig(10), {}, "", true});
  Calls calls(server.Connect());
  std::vector<std::string> names;
  for (int i = 0; i < 6; ++i) {
    v1::VideoSpec spec = BilledSpec("x", 4 + 4 * i);
    if (i % 2 == 0) spec.mutable_preview()->set_every_steps(3);
    names.push_back(calls.Create(spec).name());
  }
  double worst = 0;
  for (const std::string& name : names) {
    const v1::Video video = calls.Await(name);
    ASSERT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED);
    const BillCheck bill = CheckBill(video);
    EXPECT_TRUE(bill.fits) << bill.error;
    worst = std::max(worst, bill.error);
    EXPECT_GE(video.stats().timed_steps(), 1) << name;
  }
  // The same of the metrics, whose whole is by the wall clock.
  const double whole = server.Metric("reel_request_duration_seconds_sum");
  const double error = std::abs(server.Metric("reel_stage_duration_seconds_sum") - whole) / whole;
  EXPECT_LE(error, 0.02);
  std::cout << "FIGURE: parts of 6 jobs that shared a device against their whole: " << worst * 100
            << " %; stages of the metrics against the requests' duration: " << error * 100
            << " %\n";
}

TEST(Bill, EveryEndIsOneLineOfTheLog) {
  ServerSetup setup;
  setup.config = FaultyConfig("nan", 2, "poison", 50);
  ReelServer server(setup);
  Calls calls(server.Connect());
  const auto until_running = [&](const std::string& name) {
    return Eventually([&] { return calls.Get(name).progress().step() > 0; });
  };
  const auto cancel = [&](const std::string& name) {
    v1::CancelVideoRequest request;
    request.set_name(name);
    v1::CancelVideoResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(calls.videos().CancelVideo(&context, request, &response).ok());
  };
  std::map<std::string, std::string> expected;  // outcome and reason, by name
  expected[calls.Create(BilledSpec("good", 4)).name()] = R"("outcome":"ok","reason":"")";
  expected[calls.Create(BilledSpec("poison", 4)).name()] =
      R"("outcome":"failed","reason":"NUMERICAL_FAULT")";
  for (const auto& [name, end] : expected) calls.Await(name);
  const std::string cancelled = calls.Create(BilledSpec("long", 100)).name();
  ASSERT_TRUE(until_running(cancelled));
  cancel(cancelled);
  expected[cancelled] = R"("outcome":"cancelled","reason":"CANCELLED_BY_OWNER")";
  calls.Await(cancelled);
  // A caller who leaves.
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = BilledSpec("long", 100);
  const auto left = calls.Generate(
      request, [](const v1::VideoEvent& event) { return event.progress().step() == 0; });
  expected[left.accepted.name()] = R"("outcome":"cancelled","reason":"OWNER_LEFT")";
  calls.Await(left.accepted.name());
  for (const auto& [name, end] : expected) {
    EXPECT_TRUE(Eventually([&, id = name] { return !EndLines(server, id).empty(); })) << name;
    const auto lines = EndLines(server, name);
    ASSERT_EQ(lines.size(), 1u) << name;
    EXPECT_THAT(lines[0], AllOf(HasSubstr(end), HasSubstr("\"device_seconds\":"),
                                HasSubstr("\"duration\":"), HasSubstr("\"trace_id\":"),
                                HasSubstr("\"model\":\"testcard\""), HasSubstr("\"denoise\":")))
        << name;
    EXPECT_TRUE(CheckBill(calls.Get(name)).fits) << lines[0];
  }
}

TEST(Bill, AWorkersLineHasTheTraceOfItsRequest) {
  ServerSetup setup;
  setup.config = FaultyConfig("nan", 2, "poison");
  ReelServer server(setup);
  Calls calls(server.Connect());
  const v1::Video video = calls.Await(calls.Create(BilledSpec("poison", 4)).name());
  ASSERT_EQ(video.state(), v1::VIDEO_STATE_FAILED);
  const char* message = "A video was not rendered to its end";
  ASSERT_TRUE(Eventually([&] { return !LinesOf(server, video.name(), message).empty(); }));
  EXPECT_THAT(LinesOf(server, video.name(), message)[0],
              AllOf(HasSubstr("\"trace_id\":\"" + video.trace_id() + "\""),
                    HasSubstr("\"reason\":\"NUMERICAL_FAULT\""), HasSubstr("\"worker\":\"")));
}

TEST(Bill, ADeadlineIsOneLineOfTheLog) {
  ReelServer server({SlowConfig(50), {}, "", true});
  Calls calls(server.Connect());
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = BilledSpec("long", 100);
  request.mutable_timeout()->set_seconds(1);
  const StreamResult result = calls.Generate(request);
  ASSERT_EQ(result.status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  const std::string name = result.accepted.name();
  ASSERT_TRUE(Eventually([&] { return !EndLines(server, name).empty(); }));
  EXPECT_THAT(
      EndLines(server, name),
      ::testing::ElementsAre(HasSubstr(R"("outcome":"deadline","reason":"DEADLINE_PASSED")")));
}

TEST(Bill, NothingOfACallersIsInLogsOrMetrics) {
  const testing::TempFolder folder;
  const std::string canary = "canary4711";
  const std::string tokens = folder.Write("tokens", Sha256Hex(canary + "token") + " alice user\n");
  ASSERT_EQ(::chmod(tokens.c_str(), 0600), 0);
  ServerSetup setup;
  setup.config = "auth { tokens_file: '" + tokens + "' }";
  ReelServer server(setup);
  const std::string token = folder.Write("token", canary + "token");
  const std::string file = folder.File(canary + ".mp4");
  const ProgramResult made = RunProgram(BinaryPath("reel"), {"--server",
                                                             server.address(),
                                                             "--token-file",
                                                             token,
                                                             "generate",
                                                             canary + " prompt",
                                                             "--negative-prompt",
                                                             canary + " negative",
                                                             "--label",
                                                             canary + "=" + canary,
                                                             "--width",
                                                             "128",
                                                             "--height",
                                                             "96",
                                                             "--frames",
                                                             "9",
                                                             "--steps",
                                                             "4",
                                                             "-o",
                                                             file});
  ASSERT_EQ(made.status, 0) << made.errors;
  EXPECT_TRUE(Eventually([&] { return server.Log().find("A video ended") != std::string::npos; }));
  EXPECT_THAT(server.Log(), Not(HasSubstr("canary")));
  const std::string metrics = server.Get("/metrics");
  EXPECT_THAT(metrics, AllOf(HasSubstr("reel_requests_total"), Not(HasSubstr("canary"))));
}

}  // namespace
}  // namespace reel::tests
