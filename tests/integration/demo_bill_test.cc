// SPDX-License-Identifier: Apache-2.0
// The bill of a real model: ltx-demo, by the real programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "tests/integration/bill_check.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class DemoBill : public ::testing::Test {
 protected:
  static ServerSetup WithDemo() {
    ServerSetup setup;
    setup.config = absl::StrCat("models { name: 'demo' path: '", std::getenv("REEL_SOURCE"),
                                "/model/demo/weights' dtype: 'fp32' }");
    return setup;
  }
  static v1::VideoSpec Spec(const std::string& prompt, int steps) {
    v1::VideoSpec spec;
    spec.set_prompt(prompt);
    spec.set_width(128);
    spec.set_height(128);
    spec.set_num_frames(9);
    spec.set_num_inference_steps(steps);
    return spec;
  }

  ReelServer server_{WithDemo()};
  Calls calls_{server_.Connect()};
  const testing::TempFolder folder_;
};

TEST_F(DemoBill, EveryJobHasPartsThatSumAndOperatorsOfAllItsStages) {
  double worst = 0, least = 1;
  const std::pair<const char*, int> jobs[] = {{"a red circle", 2},
                                              {"a blue square", 8},
                                              {"a green circle", 8},
                                              {"a pink square", 30},
                                              {"a white circle", 3}};
  for (const auto& [prompt, steps] : jobs) {
    const StreamResult result = calls_.Generate(Spec(prompt, steps));
    ASSERT_TRUE(result.status.ok()) << result.status.error_message();
    const v1::RunStats& stats = result.finished.stats();
    const BillCheck bill = CheckBill(result.finished);
    EXPECT_TRUE(bill.fits) << bill.error;
    worst = std::max(worst, bill.error);
    EXPECT_GE(stats.timed_steps(), 1) << steps;
    std::map<v1::RunPart, absl::Duration> estimates, parts;
    std::set<std::string> used, timed;
    for (const v1::KernelUse& use : stats.kernels()) used.insert(use.op());
    absl::Duration sampled, gaps;
    for (const v1::OperatorCost& cost : stats.operators()) {
      estimates[cost.part()] += FromProtoDuration(cost.estimate());
      timed.insert(cost.op());
      if (cost.part() != v1::RUN_PART_DENOISE) continue;
      sampled += FromProtoDuration(cost.timed());
      if (cost.op() == "gaps") gaps += FromProtoDuration(cost.timed());
    }
    for (const std::string& op : used) {
      EXPECT_EQ(timed.count(op), 1u) << op << " was never timed";
    }
    for (const v1::PartTime& part : stats.parts()) {
      parts[part.part()] = FromProtoDuration(part.time());
    }
    for (const auto part : {v1::RUN_PART_TEXT, v1::RUN_PART_DENOISE, v1::RUN_PART_DECODE}) {
      ASSERT_EQ(estimates.count(part), 1u) << v1::RunPart_Name(part);
      // Two clocks of the same pieces.
      EXPECT_LE(absl::AbsDuration(estimates[part] - parts[part]),
                parts[part] * 0.02 + absl::Milliseconds(5))
          << v1::RunPart_Name(part);
    }
    least = std::min(least, 1 - absl::FDivDuration(gaps, sampled));
  }
  std::cout << "FIGURE: parts of 5 jobs of ltx-demo against their whole: " << worst * 100
            << " %; operators are at least " << least * 100
            << " % of a timed step, the rest is gaps\n";
}

TEST_F(DemoBill, TextsThatAreRememberedAreCounted) {
  const auto counted = [&](const char* what) {
    return server_.Metric(std::string("reel_prompt_cache_") + what + "_total");
  };
  EXPECT_EQ(counted("misses"), 0);
  ASSERT_TRUE(calls_.Generate(Spec("a red circle", 2)).status.ok());
  const double first = counted("misses");
  EXPECT_GE(first, 1);
  EXPECT_EQ(counted("hits"), 0);
  ASSERT_TRUE(calls_.Generate(Spec("a red circle", 2)).status.ok());
  EXPECT_EQ(counted("misses"), first) << "every text of the second one is known";
  EXPECT_EQ(counted("hits"), first);
  ASSERT_TRUE(calls_.Generate(Spec("a blue square", 2)).status.ok());
  EXPECT_EQ(counted("misses"), first + 1);
}

TEST_F(DemoBill, SeveralOfOneCallEncodeTheirPromptOnce) {
  const auto encoded = [&] { return server_.Metric("reel_prompt_cache_misses_total"); };
  ASSERT_TRUE(calls_.Generate(Spec("a red circle", 2)).status.ok());
  const double before = encoded();  // with the negative prompt
  v1::CreateVideoRequest request;
  *request.mutable_spec() = Spec("a green triangle", 2);
  request.set_count(4);
  v1::CreateVideoResponse made;
  grpc::ClientContext context;
  ASSERT_TRUE(calls_.videos().CreateVideo(&context, request, &made).ok());
  ASSERT_EQ(made.videos_size(), 4);
  for (const v1::Video& video : made.videos()) {
    EXPECT_EQ(calls_.Await(video.name()).state(), v1::VIDEO_STATE_SUCCEEDED);
  }
  EXPECT_EQ(encoded(), before + 1);
}

TEST_F(DemoBill, ReelShowsItAndWritesATrace) {
  const std::string path = folder_.File("a.mp4"), trace_path = folder_.File("trace.json");
  const ProgramResult made = RunProgram(
      BinaryPath("reel"),
      {"--server", server_.address(), "generate", "a red circle", "--width", "128", "--height",
       "128", "--frames", "9", "--steps", "4", "--profile", "--trace", trace_path, "-o", path});
  EXPECT_EQ(made.status, 0) << made.errors;
  EXPECT_EQ(made.out, path + "\n");
  EXPECT_THAT(made.errors, AllOf(HasSubstr("\ndenoise "), HasSubstr("\ndecode "),
                                 HasSubstr("linear"), HasSubstr("gaps"), HasSubstr("###")));
  const std::string name = calls_.List().at(0).name();
  EXPECT_THAT(RunProgram(BinaryPath("reel"), {"--server", server_.address(), "get", name}).out,
              AllOf(HasSubstr("\ndenoise "), HasSubstr("linear")));
  google::protobuf::Struct trace;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(folder_.Read("trace.json"), &trace).ok());
  std::set<std::string> names;
  for (const auto& event : trace.fields().at("traceEvents").list_value().values()) {
    names.insert(event.struct_value().fields().at("name").string_value());
  }
  EXPECT_THAT(names, ::testing::IsSupersetOf({"request", "queue", "text", "step 1", "step 4",
                                              "decode", "file", "linear"}));
}

}  // namespace
}  // namespace reel::tests
