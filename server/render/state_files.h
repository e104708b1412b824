// SPDX-License-Identifier: Apache-2.0
// The files of --keep-state, --promote, --extend and --retake.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/model_card.h"
#include "model/pass_state.h"
#include "server/render/render_options.h"

namespace reel::render {

// Takes from the state of the video that the flags name what the request has of it: of a promotion
// all. Without such a flag there is nothing to do. INVALID_ARGUMENT names the file or the adapter.
absl::Status ReadSourceFile(RenderOptions& options);

// The passes that a resolved request begins from; nullopt: none. INVALID_ARGUMENT: they are another
// model's.
absl::StatusOr<std::optional<model::PassState>> PassesToBeginFrom(const model::GenerationSpec& spec,
                                                                  const model::ModelCard& card);

// Writes the state of a video; the file appears whole or not at all.
absl::Status WriteStateFile(const std::string& path, const std::string& state);

}  // namespace reel::render
