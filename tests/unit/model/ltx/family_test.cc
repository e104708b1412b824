// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/family.h"

#include <string>

#include "gtest/gtest.h"
#include "model/ltx/ltx_model.h"
#include "model/weights/checkpoint.h"
#include "tests/fakes/tiny_checkpoint.h"
#include "tests/fakes/tiny_ltx.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model::ltx {
namespace {

bool Recognises(const std::string& path) {
  const auto checkpoint = Examine(path);
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.status();
  return checkpoint.ok() && Family().recognises(*checkpoint);
}

bool RecognisesClass(const std::string& name) {
  return Family().recognises(Checkpoint{.pipeline_class = name, .file = {}});
}

TEST(Family, KnowsAFolderByItsPipeline) {
  EXPECT_TRUE(Recognises(TinyFolder("0.9.5").path()));
  for (const char* ours : {"LTXPipeline", "LTXImageToVideoPipeline", "LTXConditionPipeline"}) {
    EXPECT_TRUE(RecognisesClass(ours)) << ours;
  }
  for (const char* other : {"WanPipeline", "LTX2Pipeline", "LTX", ""}) {
    EXPECT_FALSE(RecognisesClass(other)) << other;
  }
}

TEST(Family, KnowsAFileByItsTensorsWhateverItIsCalled) {
  const reel::testing::TempFolder scratch;
  const std::string whole = CheckpointOf(TinyFolder("0.9.5").path(), "0.9.5");
  for (const char* name : {"ltx.safetensors", "model.bin", "0c3f8e"}) {
    EXPECT_TRUE(Recognises(scratch.Write(name, whole))) << name;
  }
  EXPECT_FALSE(
      Recognises(scratch.Write("ltx-video.safetensors", SafetensorsOf({{"weight", {1}}}))));
}

// LTX-2 calls its streams' first layers alike.
TEST(Family, LeavesFilesOfLtx2ToTheirOwn) {
  const reel::testing::TempFolder scratch;
  for (const std::string prefix : {"", "model.diffusion_model."}) {
    EXPECT_FALSE(Recognises(
        scratch.Write("ltx-2.safetensors",
                      SafetensorsOf({{prefix + "patchify_proj.weight", {1}},
                                     {prefix + "audio_patchify_proj.weight", {1}},
                                     {prefix + "transformer_blocks.47.scale_shift_table", {1}}}))));
  }
}

at::ScalarType DefaultDtype(at::Device device, bool computes_in_bf16) {
  const TinyFolder folder("0.9.5");
  LoadOptions options;
  options.path = folder.path();
  options.computes_in_bf16 = computes_in_bf16;
  const auto model = LoadLtxModel(options, device, Values::kNone);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? (*model)->dtype : at::kDouble;
}

TEST(Family, ComputesInFp16WhereAGpuHasNoBf16) {
  EXPECT_EQ(DefaultDtype(at::Device(at::kCUDA, 0), true), at::kBFloat16);
  EXPECT_EQ(DefaultDtype(at::Device(at::kCUDA, 0), false), at::kHalf);
  EXPECT_EQ(DefaultDtype(at::Device(at::kCPU), true), at::kFloat);
}

TEST(Family, RefusesADecoderThatItDoesNotHave) {
  const TinyFolder folder("0.9.5");
  LoadOptions options;
  options.path = folder.path();
  options.decoder = kDiffusionDecoder;
  const absl::Status refused = LoadLtxModel(options, at::kCPU).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(refused.message(), "LTX-Video has no diffusion decoder: leave `decoder` out");
}

}  // namespace
}  // namespace reel::model::ltx
