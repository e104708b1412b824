// SPDX-License-Identifier: Apache-2.0
#include "model/layers/weights.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/layers/random_weight.h"
#include "model/weights/widen.h"

namespace reel::model {
namespace {

constexpr int64_t kWidenedAtOnce = int64_t{1} << 24;  // elements, 64 MiB of fp32
constexpr int64_t kRunsOfAThread = 256;               // at least; a run is whole blocks

// For the types of weights that libtorch converts.
std::optional<at::ScalarType> ScalarTypeOf(TensorType type) {
  switch (type) {
    case TensorType::kF32:
      return at::kFloat;
    case TensorType::kF16:
      return at::kHalf;
    case TensorType::kBf16:
      return at::kBFloat16;
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

at::Tensor Weights::Read(const std::string& name, const StoredTensor& stored,
                         at::ScalarType dtype) {
  const std::optional<at::ScalarType> type = ScalarTypeOf(stored.type());
  if (!type.has_value() && !HasCodes(stored)) {
    const std::string_view type_name = NameOf(stored.type());
    Fail(name, absl::StrCat("its type is ", std::string(type_name),
                            ", which is not a type of network weights"));
    return {};
  }
  const at::TensorOptions held = at::TensorOptions(device_).dtype(dtype);
  if (device_.is_meta()) return at::empty(stored.entry->shape, held);
  return type.has_value() ? CopyOf(stored, *type).to(held) : ReadCodes(stored, dtype);
}

// Widened piece by piece, so that a load needs no tensor in fp32.
at::Tensor Weights::ReadCodes(const StoredTensor& stored, at::ScalarType dtype) {
  const at::Tensor values = at::empty(stored.entry->shape, at::TensorOptions(dtype));
  const at::Tensor flat = values.view({-1});
  const at::Tensor piece = at::empty({std::min(kWidenedAtOnce, flat.numel())}, at::kFloat);
  std::atomic<bool> finite = true;
  for (int64_t first = 0; first < flat.numel(); first += kWidenedAtOnce) {
    const int64_t count = std::min(kWidenedAtOnce, flat.numel() - first);
    float* const out = piece.data_ptr<float>();
    const int64_t runs = (count + kMostBlockElements - 1) / kMostBlockElements;
    at::parallel_for(0, runs, kRunsOfAThread, [&](int64_t first_run, int64_t last_run) {
      const int64_t begin = first_run * kMostBlockElements;
      const int64_t end = std::min(last_run * kMostBlockElements, count);
      const absl::Span<float> part(out + begin, static_cast<size_t>(end - begin));
      Widen(stored, first + begin, part);
      if (!AllFinite(part)) finite = false;
    });
    flat.slice(0, first, first + count).copy_(piece.slice(0, 0, count));
  }
  stored.file->DropPages(*stored.entry);
  if (finite) return values.to(device_);
  status_ = absl::DataLossError(
      absl::StrCat("the weights have codes or scales that are not numbers: ", stored.file->path(),
                   ": ", stored.entry->name));
  return {};
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
