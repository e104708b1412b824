// SPDX-License-Identifier: Apache-2.0
#include "model/fit_model.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/dispatch/kernel_profiles.h"
#include "model/pass_work.h"

namespace reel::model {
namespace {

// Stands for a device whose size is not known, where the options say themselves where weights are.
constexpr int64_t kAnyMemory = int64_t{1} << 50;

}  // namespace

bool WantsPlan(const LoadOptions& options) {
  return options.device_memory > 0 || options.offload != Offload() ||
         options.weights_form != WeightsForm::k16 || options.text_form != WeightsForm::k16;
}

LoadOptions ForShapes(LoadOptions options) {
  options.manifest_file.clear();
  // Where codes stand in the place of weights, layers that adapters change may be larger.
  if (options.weights_form == WeightsForm::k16) options.adapters.clear();
  options.peers.clear();
  return options;
}

FitNeed NeedOf(const ModelCard& card, int64_t device_memory) {
  FitNeed need{.device = device_memory > 0 ? device_memory : kAnyMemory};
  if (card.memory == MemoryCosts()) return need;
  GenerationSpec least = card.defaults;
  least.width = least.height = LeastSide("", card);
  least.num_frames = 1;
  need.usual_video = PeakMemoryOf(card.defaults, card);
  need.least_video = PeakMemoryOf(least, card);
  return need;
}

absl::StatusOr<FitPlan> PlanFor(const LoadOptions& options, const WeightSizes& sizes,
                                const ModelCard& card) {
  WeightSizes own = sizes;
  // Each rank of a group has blocks of its own, and steps that wait for the others.
  if (!options.peers.empty()) own.can_stream_blocks = false;
  return PlanFit(own, NeedOf(card, options.device_memory), options.offload);
}

void ApplyPlan(const FitPlan& plan, const WeightSizes& sizes, ModelCard& card) {
  card.fit = plan;
  card.weight_bytes = plan.device_bytes();
  card.host_bytes = plan.host_bytes();
  card.streamed_bytes = plan.step_copies;
  card.weights_form = sizes.form;
  const auto drop = [&card](bool (*has)(std::string_view profile)) {
    std::erase_if(card.lossy_profiles, [has](const std::string& name) { return has(name); });
  };
  if (sizes.form == WeightsForm::kE4m3) {  // which has these codes, and no others can be made
    drop(kernels::HasInt8Layers);
    return;
  }
  int64_t left = plan.streamed_blocks > 0 ? 0 : std::max<int64_t>(plan.left(), 0);
  // Either kind of codes stays once it is made, so both have to fit.
  const auto drop_unless_fits = [&](bool (*has)(std::string_view profile)) {
    const bool fits = left >= sizes.codes;
    if (fits) left -= sizes.codes;
    if (!fits) drop(has);
  };
  drop_unless_fits(kernels::HasInt8Layers);
  drop_unless_fits(kernels::HasE4m3Layers);
}

}  // namespace reel::model
