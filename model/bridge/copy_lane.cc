// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/copy_lane.h"

#include "model/bridge/torch_cuda_library.h"
#include "model/torch_cuda/copy_lane.h"

namespace reel::model {
namespace {

// On a CPU a copy is done when it was asked for.
class HostLane final : public CopyLane {
 public:
  at::Tensor HostBytes(int64_t bytes) override { return at::empty({bytes}, at::kByte); }
  void Copy(size_t, const at::Tensor& from, const at::Tensor& to) override { to.copy_(from); }
  void Await(size_t) override {}
  void Release(size_t) override {}
  void AwaitAll() override {}
  void ForgetReleases() override {}
};

}  // namespace

std::unique_ptr<CopyLane> MakeCopyLane(at::Device device, size_t slots) {
  if (device.is_cpu()) return std::make_unique<HostLane>();
  const auto entry = reinterpret_cast<CopyLaneEntry>(FindInTorchCuda(kCopyLaneEntry));
  return std::unique_ptr<CopyLane>(entry == nullptr ? nullptr : entry(device.index(), slots));
}

}  // namespace reel::model
