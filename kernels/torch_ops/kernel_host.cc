// SPDX-License-Identifier: Apache-2.0
#include "kernels/torch_ops/kernel_host.h"

#include <ATen/Context.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/built_in_catalog.h"
#include "kernels/dispatch/cuda_library.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_plan.h"

namespace reel::kernels {
namespace {

absl::StatusOr<KernelCatalog> OpenCatalog(int device, const std::string& cuda_library) {
  if (device < 0) return BuiltInCatalog();
  const auto library = LoadCudaLibrary(cuda_library);
  if (!library.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("These operators were built without CUDA, and the tensors are on device ",
                     device, ": ", library.status().message()));
  }
  REEL_ASSIGN_OR_RETURN(const DeviceProperties properties, PropertiesOf(**library, device));
  return BuiltInCatalog({.device = device, .sm = properties.sm}, *library);
}

// "cuda" alone is the current device, as everywhere in torch.
int IndexOf(at::Device device) {
  if (!device.is_cuda()) return -1;
  if (device.has_index()) return device.index();
  return at::hasCUDA() ? c10::impl::VirtualGuardImpl(at::kCUDA).getDevice().index() : 0;
}

}  // namespace

struct KernelHost::DeviceVariants {
  KernelCatalog catalog;
  KernelPlan plan;  // without an override
};

KernelHost::KernelHost(std::string cuda_library, HostedVariants aten)
    : cuda_library_(std::move(cuda_library)), aten_(std::move(aten)) {}
KernelHost::~KernelHost() = default;

absl::StatusOr<std::shared_ptr<const KernelHost::DeviceVariants>> KernelHost::RowsOf(
    at::Device device) {
  const int index = IndexOf(device);
  const MutexLock lock(mutex_);
  auto& variants = variants_[index];
  if (variants == nullptr) {
    REEL_ASSIGN_OR_RETURN(KernelCatalog catalog, OpenCatalog(index, cuda_library_));
    for (const auto& variant : aten_) {
      catalog.AddFramework({variant}, KernelCatalog::Place::kFirst);
    }
    REEL_ASSIGN_OR_RETURN(KernelPlan plan, catalog.Plan("auto", {}));
    variants =
        std::make_shared<DeviceVariants>(DeviceVariants{std::move(catalog), std::move(plan)});
  }
  return variants;
}

absl::Status KernelHost::Run(const std::string& op, const std::string& variant, at::Device device,
                             absl::FunctionRef<absl::Status(const Execution&)> call) {
  REEL_ASSIGN_OR_RETURN(const auto variants, RowsOf(device));
  std::optional<KernelPlan> forced;
  if (!variant.empty()) {
    REEL_ASSIGN_OR_RETURN(forced, variants->catalog.Plan("auto", {{op, variant}}));
  }
  KernelCounters counters;
  DeviceStream stream;
  const c10::OptionalDeviceGuard guard(device.is_cuda() ? std::optional(device) : std::nullopt);
  if (device.is_cuda()) {
    const c10::impl::VirtualGuardImpl cuda(at::kCUDA);
    stream = {.device = device.index(),
              .handle = cuda.getStreamNativeHandle(cuda.getStream(device))};
  }
  const absl::Status status = call(Execution{.plan = forced ? *forced : variants->plan,
                                             .counters = counters,
                                             .timer = nullptr,
                                             .stream = stream});
  if (!status.ok()) return status;
  const MutexLock lock(mutex_);
  for (const VariantUse& use : counters.Uses()) calls_[{use.op, use.variant}] += use.calls;
  return status;
}

absl::StatusOr<std::vector<OpListing>> KernelHost::List(at::Device device) {
  REEL_ASSIGN_OR_RETURN(const auto variants, RowsOf(device));
  return variants->catalog.List();
}

std::map<std::pair<std::string, std::string>, int64_t> KernelHost::Calls() const {
  const MutexLock lock(mutex_);
  return calls_;
}

std::string CudaLibraryBeside() {
  Dl_info info{};
  std::error_code ignored;
  std::filesystem::path here;
  if (dladdr(reinterpret_cast<const void*>(&CudaLibraryBeside), &info) != 0) {
    here = std::filesystem::canonical(info.dli_fname, ignored);
  }
  return (here.parent_path() / "libreel_cuda.so").string();
}

}  // namespace reel::kernels
