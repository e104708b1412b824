// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c10/util/Exception.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/dispatch/clock_timer.h"
#include "model/bridge/rank_run.h"
#include "model/bridge/torch_device.h"
#include "model/bridge/torch_guard.h"
#include "model/ltx/rope.h"
#include "model/ltx/velocity_graphs.h"
#include "model/tokens/rank_tokens.h"
#include "tests/unit/model/bridge/cpu_link.h"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/graphs/rerun_recorder.h"
#include "tests/unit/model/ltx/pipeline_run.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class VelocityGraphsTest : public LtxPipeline {
 protected:
  void SetUp() override {
    LtxPipeline::SetUp();
    if (IsSkipped()) return;
    device_ = *TorchDeviceOf(test_.run.stream);
    transformer_ = LoadTransformer(folder_, device_);
    ASSERT_NE(transformer_, nullptr);
    graphs_ = std::make_unique<VelocityGraphs>(
        *transformer_, std::make_unique<RerunRecorder>(test_.run.stream, counts_));
  }

  // All of it drawn from `seed`, places among it.
  VelocityInputs Inputs(uint64_t seed, LatentShape shape = {2, 3, 5}, int64_t text_tokens = 6) {
    const at::Tensor mask = (at::arange(2 * text_tokens).view({2, -1}) != 1).to(device_);
    VelocityInputs inputs;
    inputs.x = Draw(seed, {2, shape.tokens(), 8}).to(device_);
    inputs.time = transformer_->Times(ops_, (Draw(seed + 1, {2}).abs() * 500).to(device_));
    inputs.rope =
        MakeRopeTable(PlainCoordinates(shape, 20.0 + static_cast<double>(seed)), 32).To(device_);
    inputs.text =
        transformer_->Prepare(ops_, Draw(seed + 2, {2, text_tokens, 32}).to(device_), mask);
    return inputs;
  }

  void ExpectSame(const VelocityInputs& inputs) {
    const at::Tensor expected = transformer_->Velocity(ops_, inputs);
    EXPECT_TRUE((*graphs_)(ops_, inputs).equal(expected));
  }

  const c10::InferenceMode no_gradients_;
  const TinyFolder folder_{"0.9.0"};
  TestRun test_{PlanSource::kKernels};
  const Ops ops_{test_.run};
  at::Device device_ = at::kCPU;
  std::unique_ptr<Transformer> transformer_;
  RecordCounts counts_;
  std::unique_ptr<VelocityGraphs> graphs_;
};

TEST_F(VelocityGraphsTest, AreRecordedAtTheSecondCallAndServeWhateverHasTheirSize) {
  VelocityInputs first = Inputs(1);
  ExpectSame(first);
  EXPECT_EQ(counts_.recorded, 0);
  first.x = first.x + 1;
  ExpectSame(first);
  EXPECT_EQ(counts_.recorded, 1);
  EXPECT_EQ(counts_.replays, 1);
  first.time = transformer_->Times(ops_, at::full({2}, 30.0).to(device_));
  ExpectSame(first);
  const VelocityInputs other = Inputs(9);  // another request: its text and its places
  ExpectSame(other);
  ExpectSame(first);
  EXPECT_EQ(counts_.recorded, 1);
  EXPECT_EQ(counts_.replays, 4);
}

TEST_F(VelocityGraphsTest, ACallCountsItsOperatorsHoweverItRuns) {
  const VelocityInputs inputs = Inputs(1);
  const auto calls_of = [&](const std::function<void(const Ops&)>& run) {
    kernels::KernelCounters counters;
    const kernels::Execution execution{test_.run.plan, counters, nullptr, test_.run.stream};
    run(Ops(execution));
    std::map<std::string, int64_t> calls;
    for (const auto& use : counters.Uses()) calls[use.op + "=" + use.variant] += use.calls;
    return calls;
  };
  const auto expected = calls_of([&](const Ops& ops) { transformer_->Velocity(ops, inputs); });
  EXPECT_FALSE(expected.empty());
  for (int call = 0; call < 4; ++call) {
    EXPECT_EQ(calls_of([&](const Ops& ops) { (*graphs_)(ops, inputs); }), expected) << call;
  }
  EXPECT_EQ(counts_.replays, 3);
}

TEST_F(VelocityGraphsTest, ServePartsOfACallToo) {
  for (const uint64_t seed : {1, 1, 9, 1}) {
    VelocityInputs inputs = Inputs(seed);
    inputs.rows = {1, 1};
    VelocityInputs part = inputs;
    part.text = inputs.text.OfFirstBlock();
    const FirstBlock expected = transformer_->First(ops_, part);
    const FirstBlock first = graphs_->First(ops_, part);
    EXPECT_TRUE(first.x.equal(expected.x));
    EXPECT_TRUE(first.added.equal(expected.added));
    part = inputs;
    part.x = first.x.clone();
    const at::Tensor others = graphs_->Others(ops_, part);
    EXPECT_TRUE(others.equal(transformer_->Others(ops_, part)));
    EXPECT_TRUE(transformer_->Head(ops_, part, others).equal((*graphs_)(ops_, inputs)));
  }
  EXPECT_EQ(counts_.recorded, 3);
  EXPECT_EQ(counts_.replays, 3 * 3);
}

TEST_F(VelocityGraphsTest, AreOfOneKindOfCall) {
  std::vector<VelocityInputs> kinds = {Inputs(1), Inputs(1, {2, 3, 4}), Inputs(1, {2, 3, 5}, 7),
                                       Inputs(1)};
  kinds[3].perturbed = {0};
  for (int round = 0; round < 3; ++round) {
    for (const VelocityInputs& inputs : kinds) ExpectSame(inputs);
  }
  EXPECT_EQ(counts_.recorded, 4);
  EXPECT_EQ(counts_.replays, 8);
  // Another plan runs other rows.
  TestRun libtorch(PlanSource::kLibtorch);
  const Ops other(libtorch.run);
  for (int call = 0; call < 2; ++call) {
    EXPECT_TRUE((*graphs_)(other, kinds[0]).equal(transformer_->Velocity(other, kinds[0])));
  }
  EXPECT_EQ(counts_.recorded, 5);
}

TEST_F(VelocityGraphsTest, OfSeveralSizesAreOfThatBatch) {
  const std::vector<VelocityInputs> batch = {Inputs(1), Inputs(5, {1, 2, 2}, 7)};
  std::vector<VelocityInputs> others = {Inputs(11), Inputs(13, {1, 2, 2}, 7)};
  const auto expect_same = [&](const std::vector<VelocityInputs>& groups) {
    const std::vector<at::Tensor> expected = transformer_->Velocities(ops_, groups);
    const std::vector<at::Tensor> made = (*graphs_)(ops_, groups);
    ASSERT_EQ(made.size(), groups.size());
    for (size_t i = 0; i < groups.size(); ++i) EXPECT_TRUE(made[i].equal(expected[i]));
  };
  for (int call = 0; call < 2; ++call) expect_same(batch);
  expect_same(others);
  others[0] = batch[0];  // one of them comes back
  expect_same(others);
  EXPECT_EQ(counts_.recorded, 1);
  EXPECT_EQ(counts_.replays, 3);
  for (int call = 0; call < 2; ++call) ExpectSame(batch[0]);  // alone it is another call
  EXPECT_EQ(counts_.recorded, 2);
}

TEST_F(VelocityGraphsTest, KeepTheLatestThatMemoryIsSetApartFor) {
  std::vector<VelocityInputs> sizes;
  for (int64_t width = 1; width <= 5; ++width) sizes.push_back(Inputs(1, {1, 2, width}));
  const VelocityInputs& largest = sizes[4];
  const int64_t inputs = 2 * 2 * 2 * 6 * 32 * 4 + 2 * 6 * 4 + 2 * 10 * 8 * 4;  // text, mask, x
  const int64_t work = 10 * 2 * 10 * 32 * 4;
  ASSERT_EQ(largest.x.size(1), 10);
  graphs_ = std::make_unique<VelocityGraphs>(
      *transformer_, std::make_unique<RerunRecorder>(test_.run.stream, counts_), work + 4 * inputs);
  for (const VelocityInputs& size : sizes) {
    for (int call = 0; call < 3; ++call) ExpectSame(size);
  }
  EXPECT_EQ(counts_.recorded, 5);
  for (size_t i = 1; i < 5; ++i) ExpectSame(sizes[i]);
  EXPECT_EQ(counts_.recorded, 5);
  for (int call = 0; call < 2; ++call) ExpectSame(sizes[0]);  // the one that had to go
  EXPECT_EQ(counts_.recorded, 6);
  for (int call = 0; call < 3; ++call) ExpectSame(Inputs(1, {2, 2, 5}));  // too large to be kept
  EXPECT_EQ(counts_.recorded, 6);
}

TEST_F(VelocityGraphsTest, AreForgottenWhenMemoryIsShort) {
  const VelocityInputs inputs = Inputs(1);
  for (int call = 0; call < 2; ++call) ExpectSame(inputs);
  EXPECT_GT(graphs_->kept_bytes(), 0);
  graphs_->Forget();
  EXPECT_EQ(graphs_->kept_bytes(), 0);
  for (int call = 0; call < 3; ++call) ExpectSame(inputs);
  EXPECT_EQ(counts_.recorded, 2);
}

TEST_F(VelocityGraphsTest, AreNotLostWhenNeighboursComeAndGo) {
  const VelocityInputs two = Inputs(1);
  VelocityInputs one = two;
  one.x = two.x.slice(0, 0, 1);
  one.time = two.time.Slice(0, 1);
  one.text = two.text.Rows(0, 1);
  VelocityInputs both_rows = one;
  both_rows.text = two.text;
  both_rows.rows = {2};
  for (int round = 0; round < 4; ++round) {
    for (const VelocityInputs& inputs : {two, one, both_rows}) ExpectSame(inputs);
  }
  EXPECT_EQ(counts_.recorded, 3);
}

TEST_F(VelocityGraphsTest, ATimedCallRunsAsItIs) {
  const VelocityInputs inputs = Inputs(1);
  for (int call = 0; call < 2; ++call) ExpectSame(inputs);
  kernels::ClockTimer timer;
  const kernels::Execution timed{test_.run.plan, test_.counters, &timer, test_.run.stream};
  EXPECT_TRUE((*graphs_)(Ops(timed), inputs).equal(transformer_->Velocity(ops_, inputs)));
  EXPECT_FALSE(timer.Take().empty());
  EXPECT_EQ(counts_.replays, 1);
}

// The call of two ranks, of which the first one's is `graphs`.
at::Tensor DividedCall(RankCrew& crew, RankLink* link, VelocityGraphs& graphs, const Ops& ops,
                       const VelocityInputs& inputs) {
  std::vector<RankTokens> parts = RankTokens::OfCrew(crew, false, inputs.x.size(1));
  std::vector<at::Tensor> made(2);
  RunOnRanks(crew, ops, [&](int rank, const Ops& by) {
    RankTokens& part = parts[static_cast<size_t>(rank)];
    part.link = link;
    VelocityInputs own = inputs;
    own.x = part.Own(inputs.x);
    own.rope = inputs.rope.Tokens(part.own().first, part.own().count);
    own.ranks = part;
    made[static_cast<size_t>(rank)] =
        rank == 0 ? graphs(by, own) : graphs.transformer().Velocity(by, own);
  });
  return at::cat(made, 1);
}

// Tokens that ranks divide: what others have made comes in the middle of the call.
TEST_F(VelocityGraphsTest, WhatRanksExchangeWithinByCopiesRunsAsItIsAtEveryCall) {
  if (!device_.is_cpu()) GTEST_SKIP() << "copies between ranks want a device for each";
  const VelocityInputs inputs = Inputs(1);
  const at::Tensor expected = transformer_->Velocity(ops_, inputs);
  RankCrew crew({device_, device_});
  for (int call = 0; call < 3; ++call) {
    const at::Tensor made = DividedCall(crew, nullptr, *graphs_, ops_, inputs);
    EXPECT_LT(Compare("divided", made, expected).relative, 5e-6);
  }
  EXPECT_EQ(counts_.recorded, 0);
}

TEST_F(VelocityGraphsTest, WhatRanksExchangeWithinByALinkIsRecorded) {
  if (!device_.is_cpu()) GTEST_SKIP() << "the link is one of CPUs";
  counts_.exchanges = true;
  RankCrew crew({device_, device_}, std::make_unique<CpuLink>(2));
  const auto expect_made = [&](RankLink* link, const VelocityInputs& inputs) {
    const at::Tensor made = DividedCall(crew, link, *graphs_, ops_, inputs);
    EXPECT_LT(Compare("linked", made, transformer_->Velocity(ops_, inputs)).relative, 5e-6);
  };
  const VelocityInputs inputs = Inputs(1);
  crew.link()->Reserve(inputs.x.size(0) * inputs.x.size(1) * 2 * 32 * 2 * sizeof(float));
  expect_made(nullptr, inputs);
  expect_made(crew.link(), inputs);
  EXPECT_EQ(counts_.recorded, 1);
  expect_made(crew.link(), Inputs(9));
  expect_made(crew.link(), inputs);
  EXPECT_EQ(counts_.recorded, 1);
  EXPECT_EQ(counts_.replays, 3);
  // As many tokens of this rank's, but others of all.
  expect_made(crew.link(), Inputs(1, {1, 1, 31}));
  expect_made(crew.link(), Inputs(1, {1, 1, 31}));
  expect_made(crew.link(), inputs);
  EXPECT_EQ(counts_.recorded, 2);
}

class WarningsHeard final : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override { heard.push_back(warning.msg()); }

  std::vector<std::string> heard;
};

TEST_F(VelocityGraphsTest, WhatCannotBeRecordedRunsAsItIsAndIsNotTriedAgain) {
  WarningsHeard warnings;
  const c10::WarningUtils::WarningHandlerGuard hears(&warnings);
  counts_.fails = true;
  const VelocityInputs inputs = Inputs(1);
  for (int call = 0; call < 4; ++call) ExpectSame(inputs);
  EXPECT_EQ(counts_.recorded, 1);
  EXPECT_EQ(counts_.replays, 0);
  EXPECT_THAT(warnings.heard, ElementsAre(HasSubstr("cannot be recorded")));
}

TEST_F(VelocityGraphsTest, NothingIsRecordedWithoutARecorder) {
  VelocityGraphs plain(*transformer_, nullptr);
  const VelocityInputs inputs = Inputs(1);
  for (int call = 0; call < 3; ++call) {
    EXPECT_TRUE(plain(ops_, inputs).equal(transformer_->Velocity(ops_, inputs)));
  }
  EXPECT_EQ(MakeGraphRecorder(at::kCPU), nullptr);
}

TEST_F(VelocityGraphsTest, ADevicesOwnGraphsGiveTheBitsOfTheCallsAsTheyAre) {
  if (device_.is_cpu()) GTEST_SKIP() << "SKIPPED: the device under test is a CPU";
  auto recorder = MakeGraphRecorder(device_);
  ASSERT_NE(recorder, nullptr);
  graphs_ = std::make_unique<VelocityGraphs>(*transformer_, std::move(recorder));
  const VelocityInputs one = Inputs(1), other = Inputs(9);
  for (int round = 0; round < 3; ++round) {
    ExpectSame(one);
    ExpectSame(other);
    ExpectSame(Inputs(3, {1, 2, 2}));
    const std::vector<VelocityInputs> groups = {Inputs(3, {1, 2, 2}), one};
    const std::vector<at::Tensor> expected = transformer_->Velocities(ops_, groups);
    const std::vector<at::Tensor> made = (*graphs_)(ops_, groups);
    for (size_t i = 0; i < groups.size(); ++i) EXPECT_TRUE(made[i].equal(expected[i]));
  }
}

// libtorch's memory for graphs ends with the last of them.
TEST_F(VelocityGraphsTest, ADevicesGraphsAreRecordedAgainAfterAllWereForgotten) {
  if (device_.is_cpu()) GTEST_SKIP() << "SKIPPED: the device under test is a CPU";
  graphs_ = std::make_unique<VelocityGraphs>(*transformer_, MakeGraphRecorder(device_));
  const VelocityInputs inputs = Inputs(1);
  for (int round = 0; round < 3; ++round) {
    for (int call = 0; call < 3; ++call) ExpectSame(inputs);
    EXPECT_GT(graphs_->kept_bytes(), 0) << "round " << round;
    graphs_->Forget();
  }
}

}  // namespace
}  // namespace reel::model::ltx
