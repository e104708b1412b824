// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/device_gone.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/cord.h"

namespace reel::kernels {
namespace {

constexpr char kMark[] = "reel/device_gone";

// kernels/cuda/error_kind.cc checks them against the headers.
constexpr int32_t kNeedReset[] = {
    100,  // cudaErrorNoDevice: it existed when this process began
    214,  // cudaErrorECCUncorrectable
    220,  // cudaErrorNvlinkUncorrectable
    802,  // cudaErrorSystemNotReady: the fabric between devices is down
};

}  // namespace

bool NeedsReset(int32_t cuda_error) {
  return std::find(std::begin(kNeedReset), std::end(kNeedReset), cuda_error) !=
         std::end(kNeedReset);
}

absl::Status DeviceGoneError(absl::string_view message) {
  absl::Status status = absl::AbortedError(message);
  status.SetPayload(kMark, absl::Cord());
  return status;
}

bool IsDeviceGone(const absl::Status& status) { return status.GetPayload(kMark).has_value(); }

}  // namespace reel::kernels
