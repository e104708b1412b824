// SPDX-License-Identifier: Apache-2.0
// A release in files of single parts, as LTX-2.5 has it. The text encoder's file also has its
// configuration, its tokenizer, and the layers through which its states go to the connectors.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/tokenizer/bpe_tokenizer.h"
#include "model/weights/weight_set.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model::ltx2 {

// Whether it is such a text encoder's file, by its metadata.
bool IsTextEncoderFile(const WeightSet& file);

// What a folder has as text_encoder/config.json and tokenizer/. FAILED_PRECONDITION: it is not
// there, or not sound.
absl::StatusOr<nlohmann::json> TextConfigOfFile(const WeightSet& file);
absl::StatusOr<BpeTokenizer> TokenizerOfFile(const WeightSet& file);

// The transformer's file with those layers, which the connectors need. FAILED_PRECONDITION: it has
// them already.
absl::StatusOr<WeightSet> WithTextProjections(const WeightSet& transformer, const WeightSet& text);

// `config`: the transformer's file's, `encoder`: what TextConfigOfFile gives. FAILED_PRECONDITION:
// the transformer was trained with another version of Gemma.
absl::Status CheckGemmaVersion(const nlohmann::json& config, const nlohmann::json& encoder,
                               const std::string& source);

// The configurations of a release's parts: `known`, and in their place what the part's file has of
// its own.
absl::StatusOr<nlohmann::json> ConfigBeside(const WeightSet& part, const nlohmann::json& known);

}  // namespace reel::model::ltx2
