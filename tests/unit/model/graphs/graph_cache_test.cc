// SPDX-License-Identifier: Apache-2.0
#include "model/graphs/graph_cache.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/graphs/rerun_recorder.h"

namespace reel::model {
namespace {

// y = 2 x, as a network of one operator.
struct DoubleCall {
  using Kind = std::vector<int64_t>;
  class Copy;

  const at::Tensor& x;
  bool comes_again = true, records = true;

  Kind kind() const { return x.sizes().vec(); }
  bool may_come_again() const { return comes_again; }
  bool may_be_recorded() const { return records; }
  int64_t input_bytes() const { return static_cast<int64_t>(x.nbytes()); }
  int64_t work_bytes() const { return 8; }
  std::vector<at::Tensor> Compute(const Ops& ops) const {
    ops.run().counters.Count("double", "test", 1);
    return {x * 2};
  }
};

class DoubleCall::Copy {
 public:
  explicit Copy(const DoubleCall& call) : x_(call.x.clone()) {}
  void Fill(const DoubleCall& call) { x_.copy_(call.x); }
  DoubleCall call() const { return {x_}; }

 private:
  at::Tensor x_;
};

class GraphCacheTest : public ::testing::Test {
 protected:
  GraphCache<DoubleCall> CacheOf(int64_t most_bytes) {
    return GraphCache<DoubleCall>(std::make_unique<RerunRecorder>(test_.run.stream, counts_),
                                  most_bytes);
  }
  void ExpectDoubled(GraphCache<DoubleCall>& cache, const at::Tensor& x) {
    EXPECT_TRUE(at::equal(cache(ops_, {x})[0], x * 2));
  }

  const c10::InferenceMode no_gradients_;
  const TestRun test_;
  const Ops ops_{test_.run};
  RecordCounts counts_;
};

TEST_F(GraphCacheTest, AKindIsRecordedAtItsSecondCallAndReplayedWithNewInputs) {
  auto cache = CacheOf(1 << 20);
  ExpectDoubled(cache, at::ones({3}));
  EXPECT_EQ(counts_.recorded, 0);
  EXPECT_EQ(cache.kept_bytes(), 0);
  for (const double value : {2, 5, 7}) ExpectDoubled(cache, at::full({3}, value));
  EXPECT_EQ(counts_.recorded, 1);
  EXPECT_EQ(counts_.replays, 3);
  EXPECT_EQ(cache.kept_bytes(), 12);
}

TEST_F(GraphCacheTest, EachKindHasItsOwnGraphUntilMemoryIsShort) {
  auto cache = CacheOf(40);  // room for inputs of 32 bytes beside 8 of work
  for (int round = 0; round < 2; ++round) {
    ExpectDoubled(cache, at::ones({4}));
    ExpectDoubled(cache, at::ones({2, 2}));
  }
  EXPECT_EQ(counts_.recorded, 2);
  EXPECT_EQ(cache.kept_bytes(), 32);
  for (int round = 0; round < 2; ++round) ExpectDoubled(cache, at::ones({2}));
  EXPECT_EQ(cache.kept_bytes(), 16 + 8);  // the oldest went
}

TEST_F(GraphCacheTest, ACallThatCannotFitIsNeverRecorded) {
  auto cache = CacheOf(40);
  for (int round = 0; round < 3; ++round) ExpectDoubled(cache, at::ones({9}));
  EXPECT_EQ(counts_.recorded, 0);
}

TEST_F(GraphCacheTest, WhatMayNotBeRecordedRunsAsItIsAndCountsAsTheFirstCall) {
  auto cache = CacheOf(1 << 20);
  const at::Tensor x = at::ones({3});
  EXPECT_TRUE(at::equal(cache(ops_, {x, true, false})[0], x * 2));
  EXPECT_TRUE(at::equal(cache(ops_, {x, false, true})[0], x * 2));
  EXPECT_EQ(counts_.recorded, 0);
  ExpectDoubled(cache, x);
  EXPECT_EQ(counts_.recorded, 1);
}

TEST_F(GraphCacheTest, WhatFailsToRecordIsComputedAndNotTriedAgain) {
  auto cache = CacheOf(1 << 20);
  counts_.fails = true;
  for (int round = 0; round < 4; ++round) ExpectDoubled(cache, at::ones({3}));
  EXPECT_EQ(counts_.recorded, 1);
  EXPECT_EQ(cache.kept_bytes(), 0);
}

TEST_F(GraphCacheTest, ForgottenKindsBeginAgain) {
  auto cache = CacheOf(1 << 20);
  for (int round = 0; round < 2; ++round) ExpectDoubled(cache, at::ones({3}));
  cache.Forget();
  EXPECT_EQ(cache.kept_bytes(), 0);
  ExpectDoubled(cache, at::ones({3}));
  EXPECT_EQ(counts_.recorded, 1);
  ExpectDoubled(cache, at::ones({3}));
  EXPECT_EQ(counts_.recorded, 2);
}

}  // namespace
}  // namespace reel::model
