// SPDX-License-Identifier: Apache-2.0
// Any bytes at all: a GGUF header is refused, or everything that it says holds, and the blocks of
// its tensors can be widened.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "model/weights/gguf_blocks.h"
#include "model/weights/gguf_header.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(data);
  const auto header = reel::model::ParseGgufHeader({bytes, size});
  if (!header.ok()) return 0;
  int64_t end = 0;
  for (const reel::model::TensorEntry& tensor : header->tensors) {
    const int64_t block = reel::model::BlockElementsOf(tensor.type);
    int64_t elements = 1;
    for (const int64_t side : tensor.shape) elements *= side;
    const int64_t blocks = elements / block;
    if (tensor.begin < end || tensor.end > static_cast<int64_t>(size)) std::abort();
    if (elements % block != 0 ||
        tensor.end - tensor.begin != blocks * reel::model::BytesOf(tensor.type)) {
      std::abort();
    }
    end = tensor.end;
    if (block == 1) continue;
    std::vector<float> values(static_cast<size_t>(block));
    for (int64_t i = 0; i < blocks; ++i) {
      reel::model::WidenBlocks(tensor.type,
                               bytes + tensor.begin + i * reel::model::BytesOf(tensor.type),
                               absl::MakeSpan(values));
    }
  }
  return 0;
}
