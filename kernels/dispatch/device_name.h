// SPDX-License-Identifier: Apache-2.0
// A worker's device by name: one, or a group of several that work on one video together.
#pragma once

#include <cstddef>
#include <string>
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

// Of a GPU or of a slice of one (MIG), as `nvidia-smi -L` lists them:
// "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6".
bool IsGpuUuid(absl::string_view member);

// A device as its process is to know it: by ranks, or by UUIDs. CUDA takes no UUIDs, but shows a
// process only the devices that CUDA_VISIBLE_DEVICES has, and counts them from 0.
struct OwnDevices {
  std::vector<int> ranks;
  std::string visible;  // for CUDA_VISIBLE_DEVICES; empty: it stays as it is
};
// INVALID_ARGUMENT where RanksOf says so, and for numbers and UUIDs in one group, a slice in a
// group, and what is no UUID.
absl::StatusOr<OwnDevices> OwnDevicesOf(absl::string_view device);

}  // namespace reel::kernels
