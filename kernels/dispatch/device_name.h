// SPDX-License-Identifier: Apache-2.0
// A worker's device by name: one, or a group of several that work on one video together.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace reel::kernels {

// Of a group.
inline constexpr size_t kMostRanks = 4;
inline constexpr int kCpuRank = -1;

// The ranks of "cpu", "cuda:N" or a group, whose members have a "+" between them:
// "cuda:0+cuda:1". A group of CPUs, "cpu+cpu", divides the work as one of GPUs does, and is for
// tests. INVALID_ARGUMENT for anything else: mixed kinds, a GPU named twice, too many ranks.
absl::StatusOr<std::vector<int>> RanksOf(absl::string_view device);

}  // namespace reel::kernels
