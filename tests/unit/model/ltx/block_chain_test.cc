// SPDX-License-Identifier: Apache-2.0
// Blocks behind the first one make the next one's first norm with their own last sum.
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/ltx/rope.h"
#include "model/ltx/transformer.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx/tiny_folder.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model::ltx {
namespace {

constexpr int64_t kBlocks = 4;

// The tiny model's weights, with copies of its two blocks behind them.
std::string WithFourBlocks(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  uint64_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof(size));
  nlohmann::json header = nlohmann::json::parse(bytes.substr(sizeof(size), size));
  std::string data = bytes.substr(sizeof(size) + size);
  const nlohmann::json stored = header;
  for (const auto& [name, tensor] : stored.items()) {
    const std::string prefix = "transformer_blocks.";
    if (name.rfind(prefix, 0) != 0) continue;
    std::string copy = name;
    copy[prefix.size()] += 2;
    const size_t begin = tensor["data_offsets"][0], end = tensor["data_offsets"][1];
    header[copy] = tensor;
    header[copy]["data_offsets"] = {data.size(), data.size() + end - begin};
    data += data.substr(begin, end - begin);
  }
  return SafetensorsBytes(header.dump(), data);
}

TEST(BlockChain, IsItsBlocksOneByOne) {
  const c10::InferenceMode no_gradients;
  const TinyFolder folder("0.9.0");
  const testing::TempFolder scratch;
  scratch.Write("blocks.safetensors", WithFourBlocks(folder.path() + "/transformer/" +
                                                     "diffusion_pytorch_model.safetensors"));
  const auto stored = WeightSet::OpenFile(scratch.path() + "/blocks.safetensors");
  ASSERT_TRUE(stored.ok()) << stored.status();
  TransformerConfig config = *ReadTransformerConfig(
      *ReadJsonFile(folder.path() + "/transformer/config.json"), "config.json");
  config.num_layers = kBlocks;
  const auto model = Transformer::Load(*stored, config, at::kFloat, at::kCPU);
  ASSERT_TRUE(model.ok()) << model.status();
  TestRun test;
  const Ops ops(test.run);
  const VelocityInputs inputs = {
      .x = Draw(24, {2, 30, 32}),
      .time = model->Times(ops, at::tensor({725.0f, 31.0f})),
      .time_of = {},
      .rope = MakeRopeTable(PlainCoordinates({2, 3, 5}, 25), 32),
      .text = model->Prepare(ops, Draw(22, {2, 6, 32}), at::ones({2, 6})),
      .rows = {1, 1}};
  Weights weights(*stored, at::kFloat, at::kCPU);
  at::Tensor x = inputs.x;
  for (int64_t i = 1; i < kBlocks; ++i) {
    const TransformerBlock block = TakeTransformerBlock(weights, i, config);
    const at::Tensor modulation =
        block.scale_shift_table + inputs.time.rows.unflatten(1, {6, -1}).unsqueeze(1);
    const BlockContext context = {inputs.rope, modulation};
    const PackedRows all(std::vector<PackedRows::Size>{{2, 30}});
    x = block.AttendSelf(ops, {x}, all, {{}}, context);
    const std::vector<at::Tensor> answer =
        block.Ask(ops, {{block.text_attention.Query(ops, x),
                         inputs.text.KeysOf(static_cast<size_t>(i)), inputs.text.mask}});
    x = block.Feed(ops, x, answer, context).x;
  }
  test.counters = {};
  EXPECT_LT(Compare("blocks", model->Others(ops, inputs), x).relative, 1e-6);
  std::map<std::string, int64_t> calls;
  for (const auto& use : test.counters.Uses()) calls[use.op] += use.calls;
  EXPECT_EQ(calls["adaln_rms_norm"], 1);           // of the first one here
  EXPECT_EQ(calls["gate_residual"], 3 + 1);        // of each attention, and at the end
  EXPECT_EQ(calls["gate_residual_adaln"], 3 + 2);  // of each text, and between blocks
}

}  // namespace
}  // namespace reel::model::ltx
