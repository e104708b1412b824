// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/tensor_shapes.h"

#include "absl/strings/str_cat.h"

namespace reel::model::ltx {
namespace {

constexpr int64_t kMaxSize = 1 << 20;
constexpr int64_t kMaxCount = 1024;

}  // namespace

int64_t TensorShapes::Size(const std::string& name, size_t axis) {
  const StoredTensor* stored = part_.Find(name);
  const bool has = stored != nullptr && axis < stored->entry->shape.size();
  const int64_t size = has ? stored->entry->shape[axis] : 0;
  if (size >= 1 && size <= kMaxSize) return size;
  if (status_.ok()) {
    status_ = absl::FailedPreconditionError(absl::StrCat(
        "the checkpoint is not one of LTX-Video, or is incomplete: ", part_.source(), ": ", name,
        stored == nullptr ? ": the tensor is missing" : ": the tensor has an unexpected shape"));
  }
  return 1;
}

int64_t TensorShapes::Count(const std::string& before, const std::string& after) const {
  int64_t count = 0;
  while (count < kMaxCount && Has(absl::StrCat(before, count, after))) ++count;
  return count;
}

void TensorShapes::ExpectTensors(size_t count, const std::string& release) {
  if (!status_.ok() || part_.tensors().size() == count) return;
  status_ = absl::FailedPreconditionError(
      absl::StrCat("the checkpoint does not have all tensors of its release: ", part_.source(),
                   ": ", part_.tensors().size(), " of the ", release, ", which has ", count));
}

}  // namespace reel::model::ltx
