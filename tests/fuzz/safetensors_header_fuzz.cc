// SPDX-License-Identifier: Apache-2.0
// Any bytes at all: a header is refused, or everything that it says holds.
#include <cstdlib>

#include "model/weights/safetensors_header.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto header =
      reel::model::ParseSafetensorsHeader({reinterpret_cast<const std::byte*>(data), size});
  if (!header.ok()) return 0;
  int64_t end = header->tensors.empty() ? 0 : header->tensors.front().begin;
  for (const reel::model::TensorEntry& tensor : header->tensors) {
    int64_t bytes = reel::model::BytesOf(tensor.type);
    for (const int64_t extent : tensor.shape) bytes *= extent;
    if (tensor.begin != end || tensor.end - tensor.begin != bytes) std::abort();
    end = tensor.end;
  }
  if (!header->tensors.empty() && end != static_cast<int64_t>(size)) std::abort();
  return 0;
}
