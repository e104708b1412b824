// SPDX-License-Identifier: Apache-2.0
// A family of models as the registry sees it: how it knows its checkpoints, and how it loads them.
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
  // Whether the checkpoint is one of its own: from what is in it, never from how it is called.
  bool (*recognises)(const Checkpoint& checkpoint) = nullptr;
  // Of a checkpoint that it recognises. Blocks. NOT_FOUND and FAILED_PRECONDITION say which file
  // and what is wrong with it.
  absl::StatusOr<std::unique_ptr<Pipeline>> (*load)(const LoadOptions& options,
                                                    kernels::DeviceStream stream) = nullptr;
  // The card that it would have; the refusals are those of a load. Without the values of weights.
  absl::StatusOr<ModelCard> (*check)(const LoadOptions& options,
                                     kernels::DeviceStream stream) = nullptr;
};

}  // namespace reel::model
