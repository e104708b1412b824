// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/ltx_generation.h"

namespace reel::model::ltx {

int64_t LtxGeneration::device_bytes() const {
  int64_t bytes = 0;
  const auto add = [&bytes](const at::Tensor& tensor) {
    if (tensor.defined()) bytes += static_cast<int64_t>(tensor.nbytes());
  };
  for (const at::Tensor* tensor : {&state.tokens.x, &state.tokens.mask, &state.tokens.initial,
                                   &state.rope.cos_sin(), &state.rope.index(), &state.text.bias}) {
    add(*tensor);
  }
  for (const TextKeys& keys : state.text.blocks) {
    add(keys.k);
    add(keys.v);
  }
  return bytes;
}

// Nothing moves: what is kept is exact, and on a GPU it keeps its memory.
absl::Status LtxGeneration::Park(bool) { return absl::OkStatus(); }
absl::Status LtxGeneration::Resume() { return absl::OkStatus(); }

}  // namespace reel::model::ltx
