// SPDX-License-Identifier: Apache-2.0
// The three video autoencoders, against diffusers; and the decode in pieces against the whole one.
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "model/ltx/read_vae_config.h"
#include "model/vae/vae_decoder.h"
#include "model/vae/vae_encoder.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx {
namespace {

constexpr int64_t kHeight = 64, kWidth = 96, kStride = 7;

class VaeGolden : public ::testing::TestWithParam<std::string> {
 protected:
  VaeGolden() : folder_(GetParam()), golden_(GetParam()) {
    const auto config = ReadVaeConfig(*ReadJsonFile(folder_.path() + "/vae/config.json"), "vae");
    EXPECT_TRUE(config.ok()) << config.status();
    const auto stored = WeightSet::OpenFolder(folder_.path() + "/vae", "diffusion_pytorch_model");
    Weights weights(*stored, at::kFloat, at::kCPU);
    encoder_ = std::make_unique<VaeEncoder>(weights, *config);
    decoder_ = std::make_unique<VaeDecoder>(weights, *config);
    weights.Skip("latents_mean");
    weights.Skip("latents_std");
    EXPECT_TRUE(weights.Finish().ok()) << weights.Finish();
  }

  at::Tensor Decode(const at::Tensor& latents, const DecodePieces& by) const {
    at::Generator noise = at::detail::createCPUGenerator(7);
    const Ops ops(test_.run);
    const FrameSourcePtr source = decoder_->Decode(ops, latents, {by, 0.05, noise});
    std::vector<at::Tensor> pieces;
    for (bool last = false; !last;) {
      const Frames frames = source->Next(ops);
      pieces.push_back(frames.x);
      EXPECT_LE(frames.x.size(2), 8 * by.late);
      last = frames.last;
    }
    return at::cat(pieces, 2);
  }

  const TinyFolder folder_;
  const Golden golden_;
  mutable TestRun test_;
  std::unique_ptr<VaeEncoder> encoder_;
  std::unique_ptr<VaeDecoder> decoder_;
};

TEST_P(VaeGolden, EncodesPicturesAndClips) {
  const at::Tensor base = at::arange(3 * kHeight * kWidth).view({3, kHeight, kWidth});
  std::vector<at::Tensor> clip;
  for (int64_t i = 1; i <= 9; ++i) clip.push_back((base * i).remainder(251).to(at::kFloat) / 255);
  const std::vector<std::pair<std::string, at::Tensor>> cases = {
      {"encode.image", clip[0].unsqueeze(1)}, {"encode.clip", at::stack(clip, 1)}};
  for (const auto& [name, pixels] : cases) {
    const LatentMoments moments = encoder_->Encode(Ops(test_.run), pixels.unsqueeze(0) * 2 - 1);
    const at::Tensor actual = at::cat({moments.mean, moments.log_variance}, 1);
    EXPECT_LT(Compare(GetParam() + " " + name, actual, golden_[name]).relative, 1e-4);
  }
}

TEST_P(VaeGolden, DecodesLikeDiffusers) {
  const at::Tensor frames = Decode(Draw(31, {1, 8, 3, 2, 3}), {3, 3});
  EXPECT_EQ(frames.sizes(), at::IntArrayRef({1, 3, 17, 64, 96}));
  EXPECT_LT(Compare(GetParam() + " decode", frames.flatten().slice(0, 0, std::nullopt, kStride),
                    golden_["decode"])
                .relative,
            1e-4);
}

TEST_P(VaeGolden, DecodesTheSameInPiecesOfAnySize) {
  for (const int64_t clip : {1, 3, 7}) {
    const at::Tensor latents = Draw(32, {1, 8, clip, 2, 3});
    const at::Tensor whole = Decode(latents, {clip, clip});
    EXPECT_EQ(whole.size(2), 8 * clip - 7);
    for (const DecodePieces by : {DecodePieces{1, 1}, {2, 2}, {clip, 1}, {clip, 2}, {3, 2}}) {
      const at::Tensor pieces = Decode(latents, by);
      EXPECT_TRUE(pieces.equal(whole)) << clip << " latents by " << by.early << ", " << by.late;
      if (!pieces.equal(whole)) Compare(GetParam() + " pieces", pieces, whole);
    }
  }
}

TEST_P(VaeGolden, EachPieceRunsAndCountsAsItIsTold) {
  at::Generator noise = at::detail::createCPUGenerator(7);
  FrameSourcePtr source;
  for (int piece = 0; piece < 3; ++piece) {
    kernels::KernelCounters counters;  // gone before the next piece
    const kernels::Execution run{test_.run.plan, counters, nullptr, test_.run.stream};
    const Ops ops(run);
    if (piece == 0)
      source = decoder_->Decode(ops, Draw(32, {1, 8, 3, 2, 3}), {{1, 1}, 0.05, noise});
    EXPECT_EQ(source->Next(ops).last, piece == 2);
    // The last one is what the one before has left over.
    EXPECT_EQ(counters.Uses().empty(), piece == 2) << piece;
  }
}

INSTANTIATE_TEST_SUITE_P(Generations, VaeGolden, ::testing::Values("0.9.0", "0.9.1", "0.9.5"));

class BadVaeConfig : public ::testing::TestWithParam<const char*> {};

TEST_P(BadVaeConfig, IsRefused) {
  EXPECT_EQ(ReadVaeConfig(*ParseJson(GetParam(), "vae"), "vae").status().code(),
            absl::StatusCode::kFailedPrecondition);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadVaeConfig,
    ::testing::Values(R"({"block_out_channels":[8]})", R"({"block_out_channels":[0,1,2,3]})",
                      R"({"down_block_types":["X","X","X","X"]})", R"({"down_block_types":[]})",
                      R"({"layers_per_block":[1]})", R"({"upsample_factor":[3,3,3,3]})",
                      R"({"upsample_factor":[2,2,2,2]})", R"({"upsample_factor":[2]})",
                      R"({"block_out_channels":[8],"down_block_types":["LTXVideo095DownBlock3D"]})",
                      R"({"patch_size":8})", R"({"encoder_causal":false})",
                      R"({"decoder_causal":true})", R"({"decoder_layers_per_block":[]})",
                      R"({"scaling_factor":0})",
                      R"({"decoder_block_out_channels":[64,96,128],"timestep_conditioning":true})",
                      R"({"spatio_temporal_scaling":[true,true,true,true]})"));

TEST(VaeConfig, TakesTheClassDefaultsForWhatIsMissing) {
  const auto config = ReadVaeConfig(*ParseJson("{}", "vae"), "vae");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->latent_channels, 128);
  EXPECT_EQ(config->down.size(), 4u);
  EXPECT_EQ(config->decoder_mid, 512);
  EXPECT_FALSE(config->timestep_conditioning);
}

}  // namespace
}  // namespace reel::model::ltx
