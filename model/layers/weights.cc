// SPDX-License-Identifier: Apache-2.0
#include "model/layers/weights.h"

#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/layers/random_weight.h"

namespace reel::model {
namespace {

// For the types of weights; fp8 is widened by value.
std::optional<at::ScalarType> ScalarTypeOf(TensorType type) {
  switch (type) {
    case TensorType::kF32:
      return at::kFloat;
    case TensorType::kF16:
      return at::kHalf;
    case TensorType::kBf16:
      return at::kBFloat16;
    case TensorType::kF8E4M3:
      return at::kFloat8_e4m3fn;
    default:
      return std::nullopt;
  }
}

// Copies the stored bytes, since a file's tensors are not aligned.
at::Tensor CopyOf(const StoredTensor& stored, at::ScalarType type) {
  at::Tensor tensor = at::empty(stored.entry->shape, at::TensorOptions(type));
  const auto bytes = stored.bytes();
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  stored.file->DropPages(*stored.entry);
  return tensor;
}

}  // namespace

void Weights::Fail(const std::string& name, const std::string& why) {
  if (!status_.ok()) return;
  status_ = absl::FailedPreconditionError(absl::StrCat(
      "the weights do not match the configuration: ", stored_.source(), ": ", name, ": ", why));
}

at::Tensor Weights::Read(const StoredTensor& stored, at::ScalarType type,
                         at::ScalarType dtype) const {
  const at::TensorOptions held = at::TensorOptions(device_).dtype(dtype);
  return device_.is_meta() ? at::empty(stored.entry->shape, held) : CopyOf(stored, type).to(held);
}

at::Tensor Weights::Take(const std::string& name, const std::vector<int64_t>& shape) {
  return TakeAs(name, shape, dtype_);
}

at::Tensor Weights::Load(const std::string& name, const std::vector<int64_t>& shape,
                         at::ScalarType dtype) {
  if (const auto seed = stored_.random_seed()) {
    return RandomWeight(name, shape, *seed, at::TensorOptions(device_).dtype(dtype));
  }
  const StoredTensor* stored = stored_.Find(name);
  if (stored == nullptr) {
    Fail(name, "the tensor is missing");
    return {};
  }
  if (stored->entry->shape != shape) {
    Fail(name, absl::StrCat("its shape is [", absl::StrJoin(stored->entry->shape, ","),
                            "], the configuration needs [", absl::StrJoin(shape, ","), "]"));
    return {};
  }
  const std::optional<at::ScalarType> type = ScalarTypeOf(stored->entry->type);
  if (!type.has_value()) {
    const std::string_view type_name = NameOf(stored->entry->type);
    Fail(name, absl::StrCat("its type is ", std::string(type_name),
                            ", which is not a type of network weights"));
    return {};
  }
  return Read(*stored, *type, dtype);
}

at::Tensor Weights::TakeAs(const std::string& name, const std::vector<int64_t>& shape,
                           at::ScalarType dtype) {
  if (!status_.ok()) return {};
  const auto found = shared_ == nullptr ? TensorsByName::iterator() : shared_->find(name);
  // Another shape is an error of the file, which Load reports.
  const bool known = shared_ != nullptr && found != shared_->end() &&
                     found->second.sizes() == at::IntArrayRef(shape);
  const at::Tensor tensor = known ? found->second.to(device_) : Load(name, shape, dtype);
  if (!status_.ok()) return {};
  if (shared_ != nullptr && !known) shared_->emplace(name, tensor);
  taken_.insert(name);
  bytes_ += static_cast<int64_t>(tensor.nbytes());
  parameters_ += tensor.numel();
  return tensor;
}

absl::Status Weights::Finish() const {
  if (!status_.ok()) return status_;
  for (const auto& [name, tensor] : stored_.tensors()) {
    if (!taken_.contains(name)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the weights have a tensor that the configuration does not use: ", stored_.source(), ": ",
          name));
    }
  }
  return absl::OkStatus();
}

}  // namespace reel::model
