// SPDX-License-Identifier: Apache-2.0
// The test card: a model without weights that draws a moving test picture, with settable costs and
// faults. For load tests, first installs and the tests of everything around a model.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "model/model_card.h"
#include "model/pipeline.h"
#include "model/registry.h"

namespace reel::model {

// What it accepts: the sizes and schedules of LTX-Video; conditions where `options` say so.
ModelCard TestCardModelCard(const std::string& name, const TestCardOptions& options = {});

// INVALID_ARGUMENT for unknown faults. Sleeps for the load time. Its videos charge `memory`, if
// given; the caller charges its weights.
absl::StatusOr<std::unique_ptr<Pipeline>> MakeTestCard(
    const std::string& name, const TestCardOptions& options,
    std::shared_ptr<CountedMemory> memory = nullptr);

}  // namespace reel::model
