// SPDX-License-Identifier: Apache-2.0
// Blocks behind the first one make the next one's first norm with their own last sum.
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/ltx/rope.h"
#include "model/ltx/transformer.h"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx/four_blocks.h"

namespace reel::model::ltx {
namespace {

TEST(BlockChain, IsItsBlocksOneByOne) {
  const c10::InferenceMode no_gradients;
  const FourBlocks four;
  const Transformer model = four.Load();
  TestRun test;
  const Ops ops(test.run);
  const VelocityInputs inputs = {.x = Draw(24, {2, 30, 32}),
                                 .time = model.Times(ops, at::tensor({725.0f, 31.0f})),
                                 .time_of = {},
                                 .rope = MakeRopeTable(PlainCoordinates({2, 3, 5}, 25), 32),
                                 .text = model.Prepare(ops, Draw(22, {2, 6, 32}), at::ones({2, 6})),
                                 .rows = {1, 1}};
  Weights weights(four.stored, at::kFloat, at::kCPU);
  at::Tensor x = inputs.x;
  for (int64_t i = 1; i < four.config.num_layers; ++i) {
    const TransformerBlock block = TakeTransformerBlock(weights, i, four.config);
    BlockCall call({&inputs, 1}, TokenLayout::Order::kByVideo, block.scale_shift_table.unsqueeze(0),
                   static_cast<size_t>(i));
    x = block(ops, {x}, {.index = static_cast<size_t>(i)}, call).x;
  }
  test.counters = {};
  EXPECT_LT(Compare("blocks", model.Others(ops, inputs), x).relative, 1e-6);
  std::map<std::string, int64_t> calls;
  for (const auto& use : test.counters.Uses()) calls[use.op] += use.calls;
  EXPECT_EQ(calls["adaln_rms_norm"], 1);           // of the first one here
  EXPECT_EQ(calls["gate_residual"], 3 + 1);        // of each attention, and at the end
  EXPECT_EQ(calls["gate_residual_adaln"], 3 + 2);  // of each text, and between blocks
}

}  // namespace
}  // namespace reel::model::ltx
