// SPDX-License-Identifier: Apache-2.0
// Any file at all, GGUF or safetensors with scales of any layout: it is refused, or each of its
// codes has a value, and its scales are positive numbers.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "model/weights/weight_set.h"
#include "model/weights/widen.h"
#include "tests/fuzz/memory_file.h"

namespace {

void Check(const reel::model::StoredTensor& tensor) {
  for (const float scale : tensor.scales) {
    if (!std::isfinite(scale) || scale <= 0) std::abort();
  }
  if (!reel::model::HasCodes(tensor)) return;
  int64_t elements = 1;
  for (const int64_t side : tensor.entry->shape) elements *= side;
  if (!tensor.scales.empty() && tensor.scales.size() != 1 &&
      static_cast<int64_t>(tensor.scales.size()) != tensor.entry->shape[0]) {
    std::abort();
  }
  std::vector<float> values(static_cast<size_t>(elements));
  reel::model::Widen(tensor, 0, absl::MakeSpan(values));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const reel::fuzz::MemoryFile file(data, size);
  const auto set = reel::model::WeightSet::OpenFile(file.path());
  if (!set.ok()) return 0;
  for (const auto& [name, tensor] : set->tensors()) Check(tensor);
  return 0;
}
