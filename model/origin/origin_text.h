// SPDX-License-Identifier: Apache-2.0
// The texts by which a video's file says how it was made: a mark that a machine made it, and all
// that it takes to make it anew. The same spec, model and process give the same bytes.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "model/generation_spec.h"
#include "model/model_card.h"

namespace reel::model {

// The process that makes a video.
struct MadeOn {
  std::string device;                          // its kind, e.g. "NVIDIA H200" or "cpu"
  std::map<std::string, std::string> kernels;  // the variant of each operator
};

// An XMP packet: a machine made the file, by which model and version. Nothing of the request.
std::string MarkOf(const ModelCard& card);

// JSON: the resolved spec by the names of the API, hashes of weights and adapters, kernels, device
// and build. Without what names a video among others, and without previews, which leave no trace in
// a file. INTERNAL above 64 KiB, which no reader takes.
absl::StatusOr<std::string> OriginOf(const GenerationSpec& spec, const ModelCard& card,
                                     const MadeOn& made);

}  // namespace reel::model
