// SPDX-License-Identifier: Apache-2.0
// Plans the weights of a model that is being loaded: from its options and card to a plan, and from
// the plan to what the card says.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "model/fit_plan.h"
#include "model/load_options.h"
#include "model/model_card.h"

namespace reel::model {

// Whether the options ask for a plan: they name the device's memory, or where weights are to be.
bool WantsPlan(const LoadOptions& options);

// The options of a load whose shapes alone are of interest: no file is summed or merged for it.
LoadOptions ForShapes(LoadOptions options);

// The peaks of the default video and of the smallest one.
FitNeed NeedOf(const ModelCard& card, int64_t device_memory);

// `card`: of the model as a whole.
absl::StatusOr<FitPlan> PlanFor(const LoadOptions& options, const WeightSizes& sizes,
                                const ModelCard& card);

// Sets the plan and what follows from it: the bytes of weights, and the profiles in 8 bits. Those
// need every block on the device and room for codes beside it, or weights that are those codes.
void ApplyPlan(const FitPlan& plan, const WeightSizes& sizes, ModelCard& card);

}  // namespace reel::model
