// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/ltx_generation.h"

#include "model/bridge/torch_guard.h"

namespace reel::model::ltx {

int64_t LtxGeneration::rows() const {
  const bool first_is_over = ready && state.step == state.schedule.steps();
  if (!first_is_over || !second_pass.has_value()) {
    return planned_tokens * state.guidance.most_rows();
  }
  // What conditions add are frames of their own.
  const LatentShape& next = second_pass->shape;
  const int64_t extra = state.tokens.extra / (state.shape.height * state.shape.width);
  return (next.frames + extra) * next.height * next.width *
         second_pass->recipe.guidance.most_rows();
}

int64_t LtxGeneration::device_bytes() const {
  int64_t bytes = 0;
  const auto add = [&](const at::Tensor& tensor) {
    if (tensor.defined() && tensor.device() == device) {
      bytes += static_cast<int64_t>(tensor.nbytes());
    }
  };
  for (const at::Tensor* tensor :
       {&state.tokens.x, &state.tokens.mask, &state.tokens.initial, &state.rope.cos_sin(),
        &state.rope.index(), &state.times.rows().embedded, &state.times.rows().rows}) {
    add(*tensor);
  }
  bytes += state.cache.BytesOn(device);
  for (const at::Tensor& tensor : state.text.tensors()) add(tensor);
  return bytes;
}

void LtxGeneration::MoveTo(at::Device where) {
  const c10::InferenceMode no_gradients;
  const auto moved = [where](const at::Tensor& t) { return t.defined() ? t.to(where) : t; };
  DenoiseState there = state;
  there.tokens.x = moved(state.tokens.x);
  there.tokens.mask = moved(state.tokens.mask);
  there.times = state.times.To(where, there.tokens.mask);
  there.tokens.initial = moved(state.tokens.initial);
  there.text = state.text.With(moved);
  if (state.rope.index().defined()) there.rope = state.rope.To(where);
  there.cache = state.cache.To(where);
  there.shares.clear();
  state = std::move(there);  // all of it, or nothing
}

absl::Status LtxGeneration::Park(bool to_host) {
  if (!to_host || device.is_cpu()) return absl::OkStatus();
  return TorchGuard([&]() -> absl::Status {
    MoveTo(at::kCPU);
    return absl::OkStatus();
  });
}

absl::Status LtxGeneration::Resume() {
  if (device.is_cpu()) return absl::OkStatus();
  return TorchGuard([&]() -> absl::Status {
    MoveTo(device);
    return absl::OkStatus();
  });
}

}  // namespace reel::model::ltx
