// SPDX-License-Identifier: Apache-2.0
// Random values in place of a stored tensor, so that a model of full size runs where its files are
// not: for benchmarks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "model/bridge/aten.h"
#include "model/load_options.h"

namespace reel::model {

// Normal, made on the device that `options` names; the same for a seed and a name on each device,
// but for the last bits. As wide as keeps a network's activations near 1: norms and
// scalars of layers around 1, other vectors and tables of 0.1, the rest of 1/sqrt(numbers that an
// output sums). On at::kMeta without values.
at::Tensor RandomWeight(const std::string& name, const std::vector<int64_t>& shape, uint64_t seed,
                        const at::TensorOptions& options);

// FAILED_PRECONDITION where options that ask for random weights name a file, which has no
// configurations, or a manifest.
absl::Status CheckRandomWeights(const LoadOptions& options);

}  // namespace reel::model
