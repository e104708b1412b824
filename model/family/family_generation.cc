// SPDX-License-Identifier: Apache-2.0
#include "model/family/family_generation.h"

#include "model/bridge/torch_guard.h"
#include "model/refinement.h"

namespace reel::model {

bool FamilyGeneration::in_first_pass() const {
  return steps_before == 0 && !spec.is_promotion() && RefinedClipOf(spec) == nullptr;
}

int64_t FamilyGeneration::device_bytes() const {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors()) {
    if (tensor.defined() && tensor.device() == device) {
      bytes += static_cast<int64_t>(tensor.nbytes());
    }
  }
  return bytes;
}

absl::Status FamilyGeneration::Move(at::Device where) {
  if (device.is_cpu()) return absl::OkStatus();
  return TorchGuard([&]() -> absl::Status {
    const c10::InferenceMode no_gradients;
    MoveTo(where);
    return absl::OkStatus();
  });
}

absl::Status FamilyGeneration::Park(bool to_host) {
  if (!to_host) return absl::OkStatus();
  frames_.reset();
  return Move(at::kCPU);
}

absl::Status FamilyGeneration::Resume() { return Move(device); }

}  // namespace reel::model
