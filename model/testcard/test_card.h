// SPDX-License-Identifier: Apache-2.0
// The model without weights: a moving test picture with settable costs and faults, for load tests,
// first installs and the tests of everything around a model. It never pretends to be more.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "model/model_card.h"
#include "model/pipeline.h"
#include "model/registry.h"

namespace reel::model {

// What it accepts: the sizes and schedules of LTX-Video; no conditions.
ModelCard TestCardModelCard(const std::string& name, const TestCardMemory& memory = {},
                            bool sound = false);

// INVALID_ARGUMENT for faults that do not exist. Sleeps for the load time. Its videos take of
// `memory`, where there is one; its weights are the caller's to count.
absl::StatusOr<std::unique_ptr<Pipeline>> MakeTestCard(
    const std::string& name, const TestCardOptions& options,
    std::shared_ptr<CountedMemory> memory = nullptr);

}  // namespace reel::model
