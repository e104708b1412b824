// SPDX-License-Identifier: Apache-2.0
// Hidden states of Gemma to the texts of both streams, against diffusers.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx2/connectors.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<Connectors> LoadConnectors(const TinyComponent& tiny, at::ScalarType dtype,
                                          int64_t text_tokens = kTextTokens) {
  const auto config = ReadConnectorsConfig(tiny.config(), "config.json");
  if (!config.ok()) return config.status();
  return Connectors::Load(tiny.weights(), *config, text_tokens, dtype, at::kCPU);
}

// The hidden states [n, C, layers + 1] of a text's tokens that count.
at::Tensor StatesOf(const Golden& gemma, const char* name, int64_t row) {
  const int64_t count = gemma["mask"][row].sum().item<int64_t>();
  return gemma[name][row].slice(0, kTextTokens - count);
}

Texts Connected(const Connectors& connectors, const at::Tensor& states, at::ScalarType dtype) {
  TestRun test;
  const Ops ops(test.run);
  return connectors(ops, states.unsqueeze(0).to(dtype).unbind(-1), kTextTokens);
}

struct OfStreams {
  at::Tensor video, audio;
};
// Both texts of the golden, which are of different lengths, each by itself.
OfStreams ConnectedTexts(const Connectors& connectors, const char* states, at::ScalarType dtype) {
  const Golden gemma = Golden::In("gemma3");
  std::vector<at::Tensor> video, audio;
  for (int64_t row = 0; row < 2; ++row) {
    const Texts texts = Connected(connectors, StatesOf(gemma, states, row), dtype);
    video.push_back(texts.video);
    audio.push_back(texts.audio);
  }
  return {at::cat(video), at::cat(audio)};
}

class ConnectorsGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(ConnectorsGolden, GiveTheTextsOfDiffusers) {
  const TinyComponent tiny("connectors", GetParam());
  const auto fp32 = LoadConnectors(tiny, at::kFloat), bf16 = LoadConnectors(tiny, at::kBFloat16);
  ASSERT_TRUE(fp32.ok() && bf16.ok()) << fp32.status();
  const Golden golden = tiny.golden();
  Worst worst;
  const OfStreams texts = ConnectedTexts(*fp32, "states.fp32", at::kFloat);
  const OfStreams in_bf16 = ConnectedTexts(*bf16, "states.bf16", at::kBFloat16);
  AddTo(worst, golden, "text.video", texts.video, in_bf16.video);
  AddTo(worst, golden, "text.audio", texts.audio, in_bf16.audio);
  // A text that is as long as can be has no register.
  const at::Tensor full = Draw(31, {kTextTokens, 24, 8});
  const Texts whole = Connected(*fp32, full, at::kFloat);
  const Texts whole_bf16 = Connected(*bf16, full, at::kBFloat16);
  AddTo(worst, golden, "full.video", whole.video, whole_bf16.video);
  AddTo(worst, golden, "full.audio", whole.audio, whole_bf16.audio);
  EXPECT_LT(worst.error, kErrorBound);
  EXPECT_LT(worst.ratio, kRatioBound);
  std::printf("connectors %s: fp32 %.1e, bf16 %.2f of diffusers' error\n", GetParam(), worst.error,
              worst.ratio);
}

INSTANTIATE_TEST_SUITE_P(Variants, ConnectorsGolden, ::testing::Values("2.0", "2.0-split", "2.3"));

TEST(Connectors, RefuseTextsThatRegistersDoNotFill) {
  const TinyComponent tiny("connectors", "2.3");
  const absl::Status status = LoadConnectors(tiny, at::kFloat, 20).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("audio_connector_num_learnable_registers"));
}

TEST(Connectors, SayWhichTensorIsMissing) {
  const TinyComponent tiny("connectors", "2.3");
  nlohmann::json file = tiny.config();
  file["video_connector_num_layers"] = 3;
  const auto config = ReadConnectorsConfig(file, "config.json");
  const auto loaded = Connectors::Load(tiny.weights(), *config, kTextTokens, at::kFloat, at::kCPU);
  EXPECT_THAT(std::string(loaded.status().message()),
              HasSubstr("video_connector.transformer_blocks.2.attn1.to_q.weight"));
}

}  // namespace
}  // namespace reel::model::ltx2
