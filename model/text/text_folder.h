// SPDX-License-Identifier: Apache-2.0
// text_encoder/ and tokenizer/ of a model, as diffusers lays them out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "model/load_options.h"
#include "model/text/prompt_encoder.h"

namespace reel::model {

// The folder that has them: the options' own word, else the model's folder, of a single file the
// one that it lies in.
std::string TextFolderOf(const LoadOptions& options);

// NOT_FOUND and FAILED_PRECONDITION name the file and what is wrong with it. Throws what libtorch
// throws. The prompts of up to `cache_bytes` are remembered. `ring`: see T5Encoder::Load.
absl::StatusOr<PromptEncoder> LoadPromptEncoder(const LoadOptions& options, at::ScalarType dtype,
                                                at::Device device, int64_t cache_bytes,
                                                std::shared_ptr<LayerRing> ring = nullptr);

}  // namespace reel::model
