// SPDX-License-Identifier: Apache-2.0
#include "client/command/top_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"
#include "tests/unit/client/command/command_fixture.h"

namespace reel::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void AddTime(v1::Video& video, const char* op, const char* variant, int64_t calls, int millis) {
  v1::OperatorCost& cost = *video.mutable_stats()->add_operators();
  cost.set_op(op);
  cost.set_variant(variant);
  cost.set_calls(calls);
  // One step in five was timed.
  cost.mutable_timed()->set_nanos(millis * 200'000);
  cost.mutable_estimate()->set_nanos(millis * 1'000'000);
}

v1::Video JobNamed(const char* name, v1::VideoState state, int ahead) {
  v1::Video job;
  job.set_name(name);
  job.set_state(state);
  job.mutable_spec()->set_num_inference_steps(30);
  job.mutable_progress()->set_queue_position(ahead);
  return job;
}

TEST(KernelSharesOf, AddsVideosUpAndPutsTheLargestFirst) {
  std::vector<v1::Video> videos(2);
  AddTime(videos[0], "linear", "cublas", 10, 20);
  AddTime(videos[0], "attention", "cudnn", 5, 50);
  AddTime(videos[1], "linear", "cublas", 10, 130);
  const auto shares = KernelSharesOf(videos);
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_EQ(shares[0].op, "linear");
  EXPECT_EQ(shares[0].calls, 20);
  EXPECT_DOUBLE_EQ(shares[0].share, 0.75);
  EXPECT_DOUBLE_EQ(shares[1].share, 0.25);
}

TEST(KernelSharesOf, NothingMeasuredIsNothingShown) {
  EXPECT_TRUE(KernelSharesOf({}).empty());
  EXPECT_THAT(RenderTop({}, 5), Not(HasSubstr("VARIANT")));
  EXPECT_THAT(RenderTop({}, 5), HasSubstr("no jobs"));
}

TEST(RenderTop, RunningJobsComeFirstThenTheQueueInItsOrder) {
  TopView view;
  view.jobs = {JobNamed("videos/third", v1::VIDEO_STATE_QUEUED, 2),
               JobNamed("videos/second", v1::VIDEO_STATE_QUEUED, 1),
               JobNamed("videos/first", v1::VIDEO_STATE_RUNNING, 0)};
  const std::string text = RenderTop(view, 2);
  EXPECT_THAT(text, HasSubstr("1 running, 2 queued"));
  EXPECT_LT(text.find("videos/first"), text.find("videos/second"));
  EXPECT_THAT(text, Not(HasSubstr("videos/third")));
  EXPECT_THAT(text, HasSubstr("and 1 more"));
}

TEST(RenderTop, SaysWhenThereAreMoreJobsThanItKnows) {
  TopView view;
  view.jobs = {JobNamed("videos/a", v1::VIDEO_STATE_QUEUED, 0)};
  view.more_jobs = true;
  EXPECT_THAT(RenderTop(view, 5), HasSubstr("at least 1 queued"));
}

TEST(RenderTop, ShowsSharesAsBars) {
  TopView view;
  view.finished.resize(1);
  AddTime(view.finished[0], "linear", "cublas", 10, 30);
  AddTime(view.finished[0], "gaps", "", 0, 10);
  const std::string text = RenderTop(view, 5);
  EXPECT_THAT(text, HasSubstr("in the last 1 video\n"));
  EXPECT_THAT(text, HasSubstr("linear  cublas   75.0%  ###############  600.0 us\n"));
  EXPECT_THAT(text, HasSubstr("gaps             25.0%  #####\n"));
}

TEST(TopJson, IsOneObject) {
  TopView view;
  view.jobs = {JobNamed("videos/a", v1::VIDEO_STATE_RUNNING, 0)};
  view.finished.resize(1);
  AddTime(view.finished[0], "linear", "cub\"las", 10, 30);
  const auto json = nlohmann::json::parse(TopJson(view));
  EXPECT_EQ(json["jobs"][0]["name"], "videos/a");
  EXPECT_EQ(json["kernels"][0]["variant"], "cub\"las");
  EXPECT_DOUBLE_EQ(json["kernels"][0]["seconds"].get<double>(), 0.03);
}

using TopCommandTest = CommandTest;

TEST_F(TopCommandTest, PrintsOnceWithoutATerminal) {
  EXPECT_EQ(Run({"top"}), 0);
  EXPECT_EQ(out_.find(server_.address()), 0u);
  EXPECT_THAT(out_, HasSubstr("cpu0    ready"));
  EXPECT_EQ(Run({"top", "--once", "--json"}), 0);
  EXPECT_EQ(nlohmann::json::parse(out_)["server"]["version"], "0.1.0");
}

TEST_F(TopCommandTest, AServerThatIsGoneIsAnError) {
  server_.Shutdown();
  EXPECT_EQ(Run({"top", "--once", "-q"}), 4);
}

}  // namespace
}  // namespace reel::client
