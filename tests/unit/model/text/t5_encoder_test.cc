// SPDX-License-Identifier: Apache-2.0
// Prompt to embeddings, against transformers.
#include "model/text/t5_encoder.h"

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "model/tokenizer/t5_tokenizer.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model {
namespace {

using ltx::Compare;
using ltx::Golden;
using ltx::TinyFolder;

constexpr char kPrompt[] = "a red fox walks through a snowy forest. cinematic, 35mm film";
constexpr char kNegative[] = "worst quality, blurry";
constexpr int kTokens = 24;

absl::StatusOr<T5Encoder> LoadEncoder(const std::string& folder, at::ScalarType dtype,
                                      std::shared_ptr<LayerRing> ring = nullptr,
                                      WeightsForm form = WeightsForm::k16) {
  const auto json = ReadJsonFile(folder + "/text_encoder/config.json");
  const auto config = ReadT5Config(*json, "config.json");
  const auto stored = WeightSet::OpenFolder(folder + "/text_encoder", "model");
  if (!stored.ok()) return stored.status();
  return T5Encoder::Load(*stored, *config, dtype, at::kCPU, std::move(ring), form);
}

at::Tensor Ids(const T5Tokenizer& tokenizer, bool masks) {
  std::vector<at::Tensor> rows;
  for (const char* text : {kPrompt, kNegative}) {
    const TokenIds tokens = *tokenizer.Encode(text, kTokens);
    rows.push_back(at::tensor(masks ? tokens.mask : tokens.ids));
  }
  return at::stack(rows);
}

TEST(T5Encoder, EqualsTransformersFromThePromptOn) {
  const TinyFolder folder("0.9.0");
  const Golden golden("0.9.0");
  const auto tokenizer = T5Tokenizer::Load(folder.path() + "/tokenizer");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  const at::Tensor ids = Ids(*tokenizer, false), mask = Ids(*tokenizer, true);
  EXPECT_TRUE(ids.equal(golden["text.ids"]));
  EXPECT_TRUE(mask.equal(golden["text.mask"]));

  const auto encoder = LoadEncoder(folder.path(), at::kFloat);
  ASSERT_TRUE(encoder.ok()) << encoder.status();
  TestRun test;
  const Ops ops(test.run);
  EXPECT_LT(
      Compare("text, unmasked", encoder->Encode(ops, ids, {}), golden["text.unmasked"]).relative,
      1e-5);
  EXPECT_LT(
      Compare("text, masked", encoder->Encode(ops, ids, mask), golden["text.masked"]).relative,
      1e-5);
  const at::Tensor many = (at::arange(150) * 7).remainder(1000).to(at::kLong).unsqueeze(0);
  EXPECT_LT(
      Compare("text, all buckets", encoder->Encode(ops, many, {}), golden["text.long"]).relative,
      1e-5);
}

TEST(T5Encoder, AMaskOfOnesIsNoMask) {
  const TinyFolder folder("0.9.0");
  const auto encoder = LoadEncoder(folder.path(), at::kFloat);
  ASSERT_TRUE(encoder.ok());
  TestRun test;
  const at::Tensor ids = at::tensor({5, 17, 42, 1}).to(at::kLong).unsqueeze(0);
  EXPECT_TRUE(encoder->Encode(Ops(test.run), ids, at::ones_like(ids))
                  .equal(encoder->Encode(Ops(test.run), ids, {})));
}

TEST(T5Encoder, GivesTheSameBitsWhereItsLayersStream) {
  const c10::InferenceMode no_gradients;
  const TinyFolder folder("0.9.0");
  const Golden golden("0.9.0");
  TestRun test;
  const Ops ops(test.run);
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const auto whole = LoadEncoder(folder.path(), dtype);
    ASSERT_TRUE(whole.ok()) << whole.status();
    // One slot, through which every layer passes.
    const auto ring = LayerRing::Make(at::kCPU, 1, whole->layer_bytes().largest);
    const auto streaming = LoadEncoder(folder.path(), dtype, ring);
    ASSERT_TRUE(streaming.ok()) << streaming.status();
    EXPECT_EQ(ring->host_bytes(), whole->layer_bytes().all);
    EXPECT_EQ(streaming->bytes(), whole->bytes());
    for (const at::Tensor& mask : {at::Tensor(), golden["text.mask"]}) {
      EXPECT_TRUE(streaming->Encode(ops, golden["text.ids"], mask)
                      .equal(whole->Encode(ops, golden["text.ids"], mask)));
    }
    EXPECT_EQ(ring->copied_bytes(), 2 * ring->host_bytes());
  }
}

TEST(T5Encoder, InEightBitsTakesLessMemoryAndErrsByLittle) {
  const c10::InferenceMode no_gradients;
  const TinyFolder folder("0.9.0");
  const Golden golden("0.9.0");
  TestRun test;
  const Ops ops(test.run);
  const at::Tensor ids = golden["text.ids"], mask = golden["text.mask"];
  const auto exact = LoadEncoder(folder.path(), at::kFloat);
  ASSERT_TRUE(exact.ok()) << exact.status();
  const at::Tensor expected = exact->Encode(ops, ids, mask);
  // In fp16 the last layer of each block stays in fp32.
  for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf}) {
    const auto whole = LoadEncoder(folder.path(), dtype);
    const auto narrow = LoadEncoder(folder.path(), dtype, nullptr, WeightsForm::kE4m3);
    ASSERT_TRUE(whole.ok() && narrow.ok()) << narrow.status();
    EXPECT_LT(4 * narrow->layer_bytes().all, 3 * whole->layer_bytes().all);
    EXPECT_LT(narrow->bytes(), whole->bytes());
    const at::Tensor made = narrow->Encode(ops, ids, mask);
    const double error = ((made.to(at::kFloat) - expected).norm() / expected.norm()).item<double>();
    RecordProperty("relative", std::to_string(error));
    EXPECT_GT(error, 0.002) << "nothing was rounded to 8 bits";
    EXPECT_LT(error, 0.15);
    const auto ring = LayerRing::Make(at::kCPU, 1, narrow->layer_bytes().largest);
    const auto streaming = LoadEncoder(folder.path(), dtype, ring, WeightsForm::kE4m3);
    ASSERT_TRUE(streaming.ok()) << streaming.status();
    EXPECT_TRUE(streaming->Encode(ops, ids, mask).equal(made));
  }
}

TEST(T5Encoder, RunsInSixteenBits) {
  const TinyFolder folder("0.9.0");
  const Golden golden("0.9.0");
  TestRun test;
  for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf}) {
    const auto encoder = LoadEncoder(folder.path(), dtype);
    ASSERT_TRUE(encoder.ok());
    const at::Tensor text = encoder->Encode(Ops(test.run), golden["text.ids"], {});
    EXPECT_LT(Compare("text, 16 bits", text, golden["text.unmasked"]).relative, 0.1);
  }
}

}  // namespace
}  // namespace reel::model
