// SPDX-License-Identifier: Apache-2.0
// Names a worker's device: a single one, or a group that works on one video together.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace reel::kernels {

// The most devices of a group.
inline constexpr size_t kMostRanks = 4;
inline constexpr int kCpuRank = -1;

// The ranks of "cpu", "cuda:N" or a group, whose members are joined by "+": "cuda:0+cuda:1".
// "cpu+cpu" divides the work like a group of GPUs, for tests. INVALID_ARGUMENT for anything else:
// mixed kinds, a GPU named twice, too many ranks.
absl::StatusOr<std::vector<int>> RanksOf(absl::string_view device);

// Names a GPU or a slice of one (MIG), as `nvidia-smi -L` lists it:
// "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6".
bool IsGpuUuid(absl::string_view member);

// A device as its process sees it, from ranks or UUIDs. CUDA does not take UUIDs, but
// CUDA_VISIBLE_DEVICES does, and then devices count from 0.
struct OwnDevices {
  std::vector<int> ranks;
  std::string visible;  // for CUDA_VISIBLE_DEVICES; empty: leave it unchanged
};
// INVALID_ARGUMENT as RanksOf, and for numbers and UUIDs in one group, a slice in a group, and
// malformed UUIDs.
absl::StatusOr<OwnDevices> OwnDevicesOf(absl::string_view device);

}  // namespace reel::kernels
