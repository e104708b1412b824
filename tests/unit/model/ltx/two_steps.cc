// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/model/ltx/two_steps.h"

#include "gtest/gtest.h"
#include "kernels/built_in_catalog.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_plan.h"
#include "model/bridge/framework_variants.h"

namespace reel::model::ltx {

std::vector<float> LatentsAfterTwoSteps(Pipeline& pipeline) {
  GenerationSpec spec;
  spec.prompt = "a red fox";
  spec.width = 96;
  spec.height = 64;
  spec.num_frames = 17;
  spec.frame_rate = 25;
  spec.num_inference_steps = 2;
  spec.guidance_scale = 3;
  spec.seed = 1;
  spec.max_text_tokens = 24;
  kernels::KernelCatalog catalog = kernels::BuiltInCatalog();
  AddFrameworkVariants(catalog);
  const kernels::KernelPlan plan = *catalog.Plan("auto", {});
  kernels::KernelCounters counters;
  const kernels::Execution run{plan, counters, nullptr, {}};
  const auto generation = pipeline.Create(spec, run);
  EXPECT_TRUE(generation.ok()) << generation.status();
  if (!generation.ok()) return {};
  for (absl::StatusOr<bool> ready = false; ready.ok() && !*ready;) {
    ready = pipeline.BeginNext(**generation, run);
    EXPECT_TRUE(ready.ok()) << ready.status();
  }
  for (int i = 0; i < 2; ++i) {
    Generation* const one[] = {generation->get()};
    EXPECT_TRUE(pipeline.Step(one, run)[0].ok());
  }
  const LatentsView view = *pipeline.Latents(**generation);
  return {view.data.begin(), view.data.end()};
}

}  // namespace reel::model::ltx
