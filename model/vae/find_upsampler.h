// SPDX-License-Identifier: Apache-2.0
// Finds and loads the latent upsampler of a model, which may have none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "model/load_options.h"
#include "model/vae/latent_upsampler.h"
#include "model/weights/manifest.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model {

// Reads a configuration as the family knows it; the errors name `source`.
using ReadUpsampler = absl::FunctionRef<absl::StatusOr<UpsamplerConfig>(const nlohmann::json& json,
                                                                        const std::string& source)>;

// The folder latent_upsampler/ as diffusers lays it out, or beside it latent_upsampler.safetensors
// as it is released; in the model's folder, or in the one that a single file lies in. Its latents
// have `channels`. FAILED_PRECONDITION names the file and what is wrong with it.
absl::StatusOr<std::optional<LatentUpsampler>> FindUpsampler(const LoadOptions& options,
                                                             ReadUpsampler read, int64_t channels,
                                                             at::ScalarType dtype,
                                                             at::Device device);

// The files of both, for a manifest.
std::vector<ListedFile> UpsamplerFiles(const LoadOptions& options);

}  // namespace reel::model
