// SPDX-License-Identifier: Apache-2.0
// A pipeline over a tiny folder, driven as the engine drives it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/load_options.h"
#include "model/ltx/transformer.h"
#include "model/pipeline.h"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/frames/collecting_sink.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx {

// Of the pictures, which are as large as most of the goldens' videos.
inline constexpr int kPictureHeight = 64, kPictureWidth = 96;

// Picture i of the goldens' clip: every byte is its position times i + 1, modulo 251.
std::shared_ptr<const ConditionPixels> Pictures(int frames, bool inverted = false,
                                                int height = kPictureHeight,
                                                int width = kPictureWidth);

Condition Pinned(std::shared_ptr<const ConditionPixels> pixels, int frame, double strength);

// A request of each of the reference's pipelines, "text", "image" and "condition", as the goldens
// have it.
inline constexpr int kTinySteps = 3;
GenerationSpec TinySpec(const std::string& kind);

// On the device under test, and on `peers` beside it. A failure is reported, and null.
std::unique_ptr<Pipeline> Load(const TinyFolder& folder, const std::string& dtype = "fp32",
                               const std::vector<int>& peers = {});

// The same with these options for what they do not name.
std::unique_ptr<Pipeline> Load(const TinyFolder& folder, LoadOptions options);

// The folder's transformer alone. A failure is reported, and null.
std::unique_ptr<Transformer> LoadTransformer(const TinyFolder& folder, at::Device device);

// Ready to step. A failure is reported, and null.
std::unique_ptr<Generation> Begin(Pipeline& pipeline, const GenerationSpec& spec,
                                  const kernels::Execution& run);

// Normalised latents, [C, F, h, w].
at::Tensor LatentsOf(const Pipeline& pipeline, const Generation& generation);

void StepAll(Pipeline& pipeline, std::vector<Generation*> generations,
             const kernels::Execution& run);

// Behind its last step, by a profile of the device under test. A failure is reported, and null.
std::unique_ptr<Generation> Denoised(Pipeline& pipeline, const GenerationSpec& spec,
                                     const std::string& profile);

CollectingSink DecodeAll(Pipeline& pipeline, Generation& generation, const kernels::Execution& run,
                         FrameFormat format = FrameFormat::kRgbF32);

// Skips where the device is not there.
class LtxPipeline : public ::testing::Test {
 protected:
  void SetUp() override;
};

}  // namespace reel::model::ltx
