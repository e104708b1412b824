// SPDX-License-Identifier: Apache-2.0
// Adds the adapters that a model is loaded with to the stored weights of its parts.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/adapters/adapter_family.h"
#include "model/fixed_adapter.h"
#include "model/load_options.h"
#include "model/weights/weight_set.h"

namespace reel::model {

// A part of a model whose linear layers adapters may change.
struct AdaptedPart {
  WeightSet* weights;  // under the names of a folder
  const char* prefix;  // of its layers in adapters: "", or "connectors."
};

// Adds them in order of their names and returns them in that order, with their sums, without their
// paths and without those of scale 0, which change nothing. NOT_FOUND and FAILED_PRECONDITION name
// the file, a key and the rule. Then no part is changed.
absl::StatusOr<std::vector<FixedAdapter>> AddAdapters(const LoadOptions& options,
                                                      AdapterFamily family,
                                                      absl::Span<const AdaptedPart> parts);

// The SHA-256 of a model's files and of its adapters with their scales. Empty without a manifest,
// which has the files' sum.
std::string SumWithAdapters(const std::string& files, absl::Span<const FixedAdapter> adapters);

}  // namespace reel::model
