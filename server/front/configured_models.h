// SPDX-License-Identifier: Apache-2.0
// Models, kernel profiles and experiments of a configuration, in the form that workers and jobs
// take.
#pragma once

#include <vector>

#include "reel/config/v1/config.pb.h"
#include "server/front/scheduling/job_options.h"

namespace reel::front {

// `config`: where the adapters are registered that the model names.
model::LoadOptions LoadOptionsOf(const config::v1::Model& model,
                                 const config::v1::ServerConfig& config);

// Each with the workers that have it.
std::vector<ModelSource> SourcesOf(const config::v1::ServerConfig& config);

// Each written out: a built-in profile, and single variants.
std::vector<KernelProfileOptions> ProfilesOf(const config::v1::ServerConfig& config);

// The shares of the arms sum to 1.
std::vector<ExperimentArm> ArmsOf(const config::v1::Experiment& experiment);

}  // namespace reel::front
