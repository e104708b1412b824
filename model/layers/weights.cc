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

LowRankColumns Weights::ColumnsFor(const std::vector<std::string>& layers, int64_t in, int64_t out,
                                   at::Tensor& weight) {
  if (room_ == nullptr || !status_.ok()) return {};
  const bool behind = weight.defined() && room_->StandsBehind(layers.size());
  if (behind) return room_->AddBehind(layers, weight);
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
  return HasShape(name, *stored, shape) ? Read(name, *stored, dtype) : at::Tensor();
}

bool Weights::HasShape(const std::string& name, const StoredTensor& stored,
                       const std::vector<int64_t>& shape) {
  if (stored.entry->shape == shape) return true;
  Fail(name, absl::StrCat("its shape is [", absl::StrJoin(stored.entry->shape, ","),
                          "], the configuration needs [", absl::StrJoin(shape, ","), "]"));
  return false;
}

bool Weights::HasCodes(const std::string& name) const {
  if (!holds_codes_ || stored_.random_seed().has_value()) return false;
  const StoredTensor* const stored = stored_.Find(name);
  return stored != nullptr && HasE4m3Codes(*stored);
}

CodedWeight Weights::TakeCodes(const std::string& name, const std::vector<int64_t>& shape) {
  const StoredTensor& stored = *stored_.Find(name);
  if (!status_.ok() || !HasShape(name, stored, shape)) return {};
  absl::StatusOr<CodedWeight> codes = ReadE4m3Codes(stored, device_);
  if (!codes.ok()) {
    status_ = codes.status();
    return {};
  }
  Count(name, codes->codes);
  return *std::move(codes);
}

void Weights::Count(const std::string& name, const at::Tensor& tensor) {
  taken_.insert(name);
  bytes_ += static_cast<int64_t>(tensor.nbytes());
  parameters_ += tensor.numel();
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
  Count(name, tensor);
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
