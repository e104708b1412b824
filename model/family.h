// SPDX-License-Identifier: Apache-2.0
// A family of models as the registry sees it: it recognises its checkpoints, and loads them.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "kernels/dispatch/execution.h"
#include "model/load_options.h"
#include "model/model_card.h"
#include "model/pipeline.h"

namespace reel::model {

struct Checkpoint;  // model/weights/checkpoint.h

struct ModelFamily {
  std::string name;  // for messages, e.g. "LTX-Video"
  // Whether the checkpoint is one of this family's, by its contents, never by its name.
  bool (*recognises)(const Checkpoint& checkpoint) = nullptr;
  // Loads a recognised checkpoint. Blocks. NOT_FOUND and FAILED_PRECONDITION name the file and its
  // problem.
  absl::StatusOr<std::unique_ptr<Pipeline>> (*load)(const LoadOptions& options,
                                                    kernels::DeviceStream stream) = nullptr;
  // The card that a load would give, with a load's errors. Does not read the values of weights.
  absl::StatusOr<ModelCard> (*check)(const LoadOptions& options,
                                     kernels::DeviceStream stream) = nullptr;
  bool takes_adapters = false;  // LoadOptions::adapters; others are refused with one
};

}  // namespace reel::model
