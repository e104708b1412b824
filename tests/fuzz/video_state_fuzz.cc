// SPDX-License-Identifier: Apache-2.0
// Any bytes at all: a state is refused, or its tensors have the sizes of their shapes and a draft's
// conditions their bytes.
#include <cstdlib>
#include <string_view>

#include "model/states/video_state.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto state =
      reel::model::ReadState(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!state.ok()) return 0;
  for (const auto& [name, tensor] : state->made.tensors) {
    int64_t bytes = tensor.type == reel::model::StateTensor::Type::kF32 ? sizeof(float) : 1;
    for (const int64_t extent : tensor.shape) bytes *= extent;
    if (bytes != static_cast<int64_t>(tensor.bytes.size())) std::abort();
  }
  for (const reel::model::Condition& condition : state->spec.conditions) {
    if (state->spec.stop_after_pass && condition.bytes == nullptr) std::abort();
  }
  return 0;
}
