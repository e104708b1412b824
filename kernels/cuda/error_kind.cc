// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/error_kind.h"

#include <driver_types.h>

namespace reel::kernels {

// The numbers that NeedsReset uses.
static_assert(cudaErrorNoDevice == 100 && cudaErrorECCUncorrectable == 214 &&
              cudaErrorNvlinkUncorrectable == 220 && cudaErrorSystemNotReady == 802);

DeviceErrorKind CudaErrorKind(int32_t error) {
  switch (static_cast<cudaError_t>(error)) {
    case cudaErrorMemoryAllocation:
    case cudaErrorLaunchOutOfResources:
      return DeviceErrorKind::kOutOfMemory;
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorNoDevice:
    case cudaErrorSystemNotReady:
    case cudaErrorDevicesUnavailable:
    case cudaErrorContextIsDestroyed:
    case cudaErrorUnknown:
      return DeviceErrorKind::kSticky;
    default:
      return DeviceErrorKind::kOther;
  }
}

}  // namespace reel::kernels
