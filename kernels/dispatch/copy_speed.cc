// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/copy_speed.h"

#include <algorithm>
#include <array>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace reel::kernels {
namespace {

constexpr int64_t kBytes = int64_t{256} << 20;

}  // namespace

absl::StatusOr<int64_t> MeasureCopySpeed(const CudaLibraryTable& library, int device) {
  std::array<int64_t, 3> nanoseconds{};
  const int32_t error = library.time_copies(device, kBytes, nanoseconds.size(), nanoseconds.data());
  if (error != 0) {
    return absl::InternalError(
        absl::StrCat("CUDA cannot time copies to the device: ", library.error_name(error)));
  }
  std::sort(nanoseconds.begin(), nanoseconds.end());
  const int64_t median = nanoseconds[nanoseconds.size() / 2];
  if (median <= 0) return absl::InternalError("CUDA timed copies to the device at no time");
  return static_cast<int64_t>(1e9 * static_cast<double>(kBytes) / static_cast<double>(median));
}

}  // namespace reel::kernels
