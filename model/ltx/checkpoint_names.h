// SPDX-License-Identifier: Apache-2.0
// Single-file checkpoints: which release a file is, and what its tensors are called in the folder
// layout of diffusers 0.42.1.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "model/weights/weight_set.h"

namespace reel::model::ltx {

// Prefixes of the components' tensors in a file of the whole model.
inline constexpr std::string_view kTransformerPrefix = "model.diffusion_model.";
inline constexpr std::string_view kVaePrefix = "vae.";

// Generations of the VAE; k097 (13B) and later keep that of 0.9.5.
enum class CheckpointVersion { k090, k091, k095, k097 };

std::string_view NameOf(CheckpointVersion version);

// FAILED_PRECONDITION: not an LTX-Video checkpoint.
absl::StatusOr<CheckpointVersion> DetectVersion(const WeightSet& file);

// nullopt: the tensor belongs to another component, or is one that diffusers drops.
std::optional<std::string> TransformerName(const std::string& original);
std::optional<std::string> VaeName(const std::string& original, CheckpointVersion version);

// The two components of a checkpoint.
absl::StatusOr<WeightSet> TransformerOf(const WeightSet& file);
absl::StatusOr<WeightSet> VaeOf(const WeightSet& file, CheckpointVersion version);

}  // namespace reel::model::ltx
