// SPDX-License-Identifier: Apache-2.0
// Draws the experiment and arm of a request. Pure.
#pragma once

#include <string>
#include <vector>

#include "model/generation_spec.h"
#include "server/front/scheduling/job_options.h"

namespace reel::front {

struct ArmChoice {
  std::string problem;  // of what the request asked for; empty: none
  bool drawn = false;   // it asked for nothing
};

// Writes experiment, arm and the arm's profile into `kernels` where the request takes part. One
// that names an experiment does; of those that leave their kernels open the configured share. The
// same `key` always has the same arm: request ids and retries keep theirs.
ArmChoice ChooseArm(const std::vector<ExperimentOptions>& experiments, const std::string& model,
                    const std::string& key, model::KernelSelection& kernels);

}  // namespace reel::front
