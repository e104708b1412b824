// SPDX-License-Identifier: Apache-2.0
// Films of a tiny LTX-2 model, made as the engine makes them.
#pragma once

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "model/bridge/aten.h"
#include "model/load_options.h"
#include "model/pipeline.h"
#include "tests/fakes/tiny_ltx2.h"
#include "tests/unit/model/frames/collecting_sink.h"
#include "tests/unit/model/ltx/pipeline_run.h"

namespace reel::model::ltx2 {

inline constexpr int kTinySteps = 3;

// As golden_ltx2_films.py has it, without guidance and at 24 pictures a second.
GenerationSpec TinySpec();

// On the device under test, in fp32. A failure is reported, and null.
std::unique_ptr<Pipeline> LoadTiny(const TinyFolder& folder, LoadOptions options = {});

struct Film {
  at::Tensor video, audio;  // tokens [S, C], normalised
  at::Tensor frames;        // [T, H, W, 3] in 0..1
  at::Tensor wave;          // [2, samples]
};

// The tokens of a generation, of whichever pass it is in; nothing is decoded.
Film TokensOf(Pipeline& pipeline, const Generation& generation);
// Tokens behind the last step, and what they are decoded to. Failures are reported.
Film Made(Pipeline& pipeline, Generation& generation);
// The same from the beginning.
Film Make(Pipeline& pipeline, const GenerationSpec& spec);

// Films of a distilled 2.3 with its upsampler, on the device under test.
class DistilledFilmTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void Step(Generation& generation);

  const TinyFolder folder_{"2.3", Scheduler::kStatic};
  const TestRun test_;
  std::unique_ptr<Pipeline> pipeline_;
};

}  // namespace reel::model::ltx2
