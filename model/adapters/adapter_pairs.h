// SPDX-License-Identifier: Apache-2.0
// Puts the tensors of an adapter's file together in pairs, each with its scale.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "model/adapters/adapter_key.h"
#include "model/weights/stored_tensor.h"
#include "model/weights/weight_file.h"

namespace reel::model {

inline constexpr int64_t kMostAdapterRank = 1024;
inline constexpr int64_t kMostAdapterBytes = int64_t{16} << 30;

// Both matrices of one layer, with the file's own scale.
struct AdapterPair {
  AdapterStem stem;
  LowRankProduct product;
};

// In the order of their stems. FAILED_PRECONDITION with the file, a key and the rule.
absl::StatusOr<std::vector<AdapterPair>> ReadPairs(const std::shared_ptr<const WeightFile>& file);

}  // namespace reel::model
