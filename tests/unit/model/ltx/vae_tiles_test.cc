// SPDX-License-Identifier: Apache-2.0
// The autoencoder in tiles against diffusers'; and what a folder may ask for.
#include "model/frames/vae_tiles.h"

#include <fstream>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "model/family/card_file.h"
#include "model/ltx/read_vae_config.h"
#include "model/vae/vae_decoder.h"
#include "model/vae/vae_encoder.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/ltx/pipeline_run.h"

namespace reel::model::ltx {
namespace {

constexpr Tiles kSpace = {96, 64}, kFrames = {16, 8};
constexpr int64_t kTileStride = 257;

VaeTiling TilingOf(const std::string& kind) {
  VaeTiling tiling;
  if (kind != "frames") tiling.space = kSpace;
  if (kind != "space") tiling.frames = kFrames;
  return tiling;
}

class VaeTiles : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  VaeTiles() : folder_(std::get<0>(GetParam())) {
    config_ = *ReadVaeConfig(*ReadJsonFile(folder_.path() + "/vae/config.json"), "vae");
    const auto stored = WeightSet::OpenFolder(folder_.path() + "/vae", "diffusion_pytorch_model");
    Weights weights(*stored, at::kFloat, at::kCPU);
    encoder_ = std::make_unique<VaeEncoder>(weights, config_);
    decoder_ = std::make_unique<VaeDecoder>(weights, config_);
  }

  at::Tensor Decode(const VaeTiling& tiling, int64_t piece) {
    at::Generator noise = at::detail::createCPUGenerator(7);
    const Ops ops(test_.run);
    const FrameSourcePtr source =
        DecodeInTiles(tiling, {config_.spatial_compression, config_.temporal_compression}, ops,
                      Draw(61, {1, 8, 5, 4, 5}), [&](const Ops& by, const at::Tensor& part) {
                        return decoder_->Decode(by, part, {{piece, piece}, 0.05, noise});
                      });
    std::vector<at::Tensor> pieces;
    for (bool last = false; !last;) {
      const Frames frames = source->Next(ops);
      pieces.push_back(frames.x);
      last = frames.last;
    }
    return at::cat(pieces, 2);
  }

  const c10::InferenceMode no_gradients_;
  const TinyFolder folder_;
  const Golden golden_ = Golden::In("tiles");
  TestRun test_;
  VaeConfig config_;
  std::unique_ptr<VaeEncoder> encoder_;
  std::unique_ptr<VaeDecoder> decoder_;
};

TEST_P(VaeTiles, DecodeAsDiffusersInPiecesOfAnySize) {
  const auto& [version, kind] = GetParam();
  const std::string name = version + ".decode." + kind;
  for (const int64_t piece : {1, 5}) {
    const at::Tensor frames = Decode(TilingOf(kind), piece);
    EXPECT_EQ(frames.sizes(), at::IntArrayRef({1, 3, 33, 128, 160}));
    EXPECT_LT(Compare(name, frames.flatten().slice(0, 0, std::nullopt, kTileStride), golden_[name])
                  .relative,
              1e-4);
  }
}

TEST_P(VaeTiles, EncodeAsDiffusers) {
  const auto& [version, kind] = GetParam();
  const std::string name = version + ".encode." + kind;
  const at::Tensor base = at::arange(3 * 128 * 160).view({3, 1, 128, 160});
  std::vector<at::Tensor> clip;
  for (int64_t i = 1; i <= 25; ++i) clip.push_back((base * i).remainder(251).to(at::kFloat) / 255);
  const LatentMoments moments =
      encoder_->Encode(Ops(test_.run), at::cat(clip, 1).unsqueeze(0) * 2 - 1, TilingOf(kind));
  const at::Tensor actual = at::cat({moments.mean, moments.log_variance}, 1);
  EXPECT_LT(Compare(name, actual, golden_[name]).relative, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Generations, VaeTiles,
                         ::testing::Combine(::testing::Values("0.9.0", "0.9.1", "0.9.5"),
                                            ::testing::Values("space", "frames", "both")));

TEST(TilesOfAFolder, AreThoseOfItsCardFileOrNone) {
  const reel::testing::TempFolder folder;
  EXPECT_FALSE(ReadVaeTiling(folder.path())->any());
  folder.Write("reel.json", R"({"vae_tiles": {"size": 256, "stride": 192}})");
  const auto tiling = ReadVaeTiling(folder.path());
  ASSERT_TRUE(tiling.ok()) << tiling.status();
  EXPECT_EQ(tiling->space->size, 256);
  EXPECT_EQ(tiling->space->stride, 192);
  EXPECT_FALSE(tiling->frames.has_value());
  folder.Write("reel.json", R"({"vae_tiles": {}, "vae_frame_tiles": {}})");
  EXPECT_EQ(ReadVaeTiling(folder.path())->space->stride, 448);
  EXPECT_EQ(ReadVaeTiling(folder.path())->frames->size, 16);
}

TEST(TilesOfAFolder, AreRefusedByKeyAndRule) {
  const reel::testing::TempFolder folder;
  for (const char* json :
       {R"({"vae_tiles": 512})", R"({"vae_tiles": {"size": 100}})",
        R"({"vae_tiles": {"size": 64}})", R"({"vae_frame_tiles": {"stride": 0}})",
        R"({"vae_frame_tiles": {"size": 12}})"}) {
    folder.Write("reel.json", json);
    const auto status = ReadVaeTiling(folder.path()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << json;
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("reel.json")) << json;
  }
}

// A folder that asks for tiles gets other frames of the same latents.
TEST(TilesOfAFolder, AreWhatAPipelineDecodesIn) {
  const TinyFolder whole("0.9.5"), tiled("0.9.5");
  std::ofstream(tiled.path() + "/reel.json") << R"({"vae_tiles": {"size": 64, "stride": 32}})";
  TestRun test;
  GenerationSpec spec;
  spec.prompt = "a fox";
  spec.width = 96;
  spec.height = 64;
  spec.num_frames = 9;
  spec.frame_rate = 25;
  spec.num_inference_steps = 1;
  std::vector<at::Tensor> frames;
  for (const TinyFolder* folder : {&whole, &tiled}) {
    const auto pipeline = Load(*folder);
    ASSERT_NE(pipeline, nullptr);
    const auto generation = Begin(*pipeline, spec, test.run);
    StepAll(*pipeline, {generation.get()}, test.run);
    frames.push_back(DecodeAll(*pipeline, *generation, test.run).Values());
  }
  EXPECT_EQ(frames[0].numel(), frames[1].numel());
  EXPECT_FALSE(frames[0].equal(frames[1]));
}

}  // namespace
}  // namespace reel::model::ltx
