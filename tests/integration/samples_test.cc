// SPDX-License-Identifier: Apache-2.0
// With default settings every job has timed operators: long jobs, short ones, and those that end
// before one step in 32 is due.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/fakes/tiny_ltx.h"
#include "tests/integration/bill_check.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

constexpr int kOfEachKind = 5;

class Samples : public ::testing::Test {
 protected:
  std::string Config() const {
    return absl::StrCat("models { name: 'ltx-demo' path: '", std::getenv("REEL_SOURCE"),
                        "/model/demo/weights' }\nmodels { name: 'tiny' path: '", tiny_.path(),
                        "' }\n");
  }

  // What the job has used, and that all of it was timed.
  void Check(const v1::Video& video, const std::string& kind) {
    const v1::RunStats& stats = video.stats();
    EXPECT_GE(stats.timed_steps(), 1) << kind;
    EXPECT_LT(stats.timed_steps(), stats.full_steps()) << kind;
    std::set<std::string> used, timed, in_steps;
    for (const v1::KernelUse& use : stats.kernels()) {
      used.insert(absl::StrCat(use.op(), " ", use.variant()));
    }
    for (const v1::OperatorCost& cost : stats.operators()) {
      if (cost.op() == "gaps") continue;
      EXPECT_GT(cost.calls(), 0) << kind << " " << cost.op();
      timed.insert(absl::StrCat(cost.op(), " ", cost.variant()));
      parts_.insert(cost.part());
    }
    ASSERT_FALSE(used.empty()) << kind;
    EXPECT_EQ(timed, used) << kind;
    EXPECT_TRUE(CheckBill(video).fits) << kind;
    ++jobs_;
    operators_ += used.size();
  }

  const model::ltx::TinyFolder tiny_{"0.9.5"};
  ReelServer server_{{Config(), {}, "", true}};
  Calls calls_{server_.Connect()};
  std::set<v1::RunPart> parts_;
  int jobs_ = 0;
  size_t operators_ = 0;
};

TEST_F(Samples, OfEveryJobAndOperator) {
  const auto render = [&](const v1::VideoSpec& spec, const std::string& kind) {
    for (int i = 0; i < kOfEachKind; ++i) {
      const StreamResult result = calls_.Generate(spec);
      ASSERT_TRUE(result.status.ok()) << kind << ": " << result.status.error_message();
      Check(result.finished, kind);
    }
  };
  v1::VideoSpec demo;
  demo.set_prompt("a red circle bouncing over blue waves");
  render(demo, "demo");
  v1::VideoSpec distilled;
  distilled.set_model("tiny");
  distilled.set_preset("2b-0.9.6-distilled");
  distilled.set_prompt("a red circle");
  distilled.set_width(64);
  distilled.set_height(64);
  distilled.set_num_frames(9);
  render(distilled, "distilled");
  v1::VideoSpec thirty = demo;
  thirty.set_width(128);
  thirty.set_height(128);
  thirty.set_num_frames(9);
  thirty.set_num_inference_steps(30);
  render(thirty, "30 steps");
  EXPECT_EQ(jobs_, 3 * kOfEachKind);
  EXPECT_EQ(parts_,
            (std::set<v1::RunPart>{v1::RUN_PART_TEXT, v1::RUN_PART_DENOISE, v1::RUN_PART_DECODE}));
  // The metrics know as many steps, and share out all of the busy time.
  EXPECT_GE(server_.Metric("reel_kernel_sampled_steps_total"), jobs_);
  const double busy = server_.Metric("reel_gpu_busy_seconds_total");
  const double estimated = server_.Metric("reel_kernel_estimated_seconds_total");
  EXPECT_LE(estimated, busy * 1.0001);
  EXPECT_GE(estimated, busy * 0.9);
  std::cout
      << "FIGURE: of " << jobs_ << " videos with default settings " << operators_
      << " operators and variants ran, each timed in its own video; the metrics' estimates sum to "
      << estimated / busy * 100 << " % of the busy time\n";
}

}  // namespace
}  // namespace reel::tests
