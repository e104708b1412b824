// SPDX-License-Identifier: Apache-2.0
#include "model/layers/weights.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/layers/merged_weight.h"
#include "model/layers/random_weight.h"
#include "model/layers/stored_values.h"

namespace reel::model {

void Weights::Fail(const std::string& name, const std::string& why) {
  if (!status_.ok()) return;
  status_ = absl::FailedPreconditionError(absl::StrCat(
      "the weights do not match the configuration: ", stored_.source(), ": ", name, ": ", why));
}

at::Tensor Weights::Read(const std::string& name, const StoredTensor& stored,
                         at::ScalarType dtype) {
  if (!HasValues(stored)) {
    const std::string_view type_name = NameOf(stored.type());
    Fail(name, absl::StrCat("its type is ", std::string(type_name),
                            ", which is not a type of network weights"));
    return {};
  }
  const at::TensorOptions held = at::TensorOptions(device_).dtype(dtype);
  if (device_.is_meta()) return at::empty(stored.entry->shape, held);
  absl::StatusOr<at::Tensor> values =
      stored.added.empty() ? ReadStored(stored, held) : ReadMerged(stored, held);
  if (values.ok()) return *std::move(values);
  status_ = values.status();
  return {};
}

LowRankColumns Weights::ColumnsFor(const std::vector<std::string>& layers, int64_t in,
                                   int64_t out) {
  if (room_ == nullptr || !status_.ok()) return {};
  return room_->Add(layers, in, out, at::TensorOptions(device_).dtype(dtype_));
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
  return Read(name, *stored, dtype);
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
