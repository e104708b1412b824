// SPDX-License-Identifier: Apache-2.0
// Identifies what is at a model's path, by its content, never by the extension of its name.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "model/weights/weight_set.h"

namespace reel::model {

// An opened checkpoint, not loaded. Immutable; may be read from any thread.
struct Checkpoint {
  std::string pipeline_class;     // for a folder: the _class_name of its model_index.json
  std::optional<WeightSet> file;  // for a single file
};

// FAILED_PRECONDITION says what the path holds instead, and what to give.
absl::StatusOr<Checkpoint> Examine(const std::string& path);

// A file, and no folder, is at `path`.
bool IsFile(const std::string& path);

// Whether `path` is a file that begins as safetensors or GGUF do.
bool IsWeightFile(const std::string& path);

}  // namespace reel::model
