// SPDX-License-Identifier: Apache-2.0
// State shared by one loaded library's operators: the variants of each device, and the counts of
// calls.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/base/mutex.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_catalog.h"

namespace reel::kernels {

// Thread-safe: libtorch calls operators from any thread.
class KernelHost {
 public:
  // `cuda_library` is the path of libreel_cuda.so, which the first call for a GPU opens. `aten`:
  // libtorch's own variants, placed before those of kernels/.
  KernelHost(std::string cuda_library, HostedVariants aten);
  ~KernelHost();
  KernelHost(const KernelHost&) = delete;
  KernelHost& operator=(const KernelHost&) = delete;

  // Runs one call on the device's current stream, with `variant` of `op` forced unless it is empty,
  // and counts it unless it fails. FAILED_PRECONDITION for a GPU without libreel_cuda.so;
  // INVALID_ARGUMENT for an unknown variant; else what `call` returns.
  absl::Status Run(const std::string& op, const std::string& variant, at::Device device,
                   absl::FunctionRef<absl::Status(const Execution&)> call);

  // Every operator with its variants on a device.
  absl::StatusOr<std::vector<OpListing>> List(at::Device device);
  // Calls so far by operator and variant.
  std::map<std::pair<std::string, std::string>, int64_t> Calls() const;

 private:
  struct DeviceVariants;
  absl::StatusOr<std::shared_ptr<const DeviceVariants>> RowsOf(at::Device device);

  const std::string cuda_library_;
  const HostedVariants aten_;
  mutable Mutex mutex_;
  std::map<int, std::shared_ptr<const DeviceVariants>> variants_ ABSL_GUARDED_BY(mutex_);
  std::map<std::pair<std::string, std::string>, int64_t> calls_ ABSL_GUARDED_BY(mutex_);
};

// libreel_cuda.so beside the shared library that contains this code.
std::string CudaLibraryBeside();

}  // namespace reel::kernels
