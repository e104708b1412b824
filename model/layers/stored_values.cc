// SPDX-License-Identifier: Apache-2.0
#include "model/layers/stored_values.h"

#include <ATen/Parallel.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/weights/widen.h"

namespace reel::model {
namespace {

constexpr int kE4m3NotANumber = 0x7f;    // with either sign
constexpr int64_t kRunsOfAThread = 256;  // at least; a run is whole blocks

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

absl::Status NotNumbers(const StoredTensor& stored) {
  return absl::DataLossError(absl::StrCat("the weights have codes or scales that are not numbers: ",
                                          stored.file->path(), ": ", stored.entry->name));
}

bool WidenInThreads(const StoredTensor& stored, int64_t first, absl::Span<float> out) {
  const auto count = static_cast<int64_t>(out.size());
  const int64_t runs = (count + kMostBlockElements - 1) / kMostBlockElements;
  std::atomic<bool> finite = true;
  at::parallel_for(0, runs, kRunsOfAThread, [&](int64_t first_run, int64_t last_run) {
    const int64_t begin = first_run * kMostBlockElements;
    const int64_t end = std::min(last_run * kMostBlockElements, count);
    const auto part = out.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
    Widen(stored, first + begin, part);
    if (!AllFinite(part)) finite = false;
  });
  return finite;
}

absl::StatusOr<at::Tensor> ReadCodes(const StoredTensor& stored, const at::TensorOptions& held) {
  const at::Tensor values = at::empty(stored.entry->shape, held.device(at::kCPU));
  const at::Tensor flat = values.view({-1});
  const at::Tensor piece = at::empty({std::min(kReadAtOnce, flat.numel())}, at::kFloat);
  for (int64_t first = 0; first < flat.numel(); first += kReadAtOnce) {
    const int64_t count = std::min(kReadAtOnce, flat.numel() - first);
    const at::Tensor part = piece.slice(0, 0, count);
    REEL_RETURN_IF_ERROR(CopyValues(stored, first, part));
    flat.slice(0, first, first + count).copy_(part);
  }
  stored.file->DropPages(*stored.entry);
  return values.to(held.device());
}

}  // namespace

bool HasValues(const StoredTensor& stored) {
  return ScalarTypeOf(stored.type()).has_value() || HasCodes(stored);
}

at::ScalarType ValueTypeOf(const StoredTensor& stored) {
  return ScalarTypeOf(stored.type()).value_or(at::kFloat);
}

absl::Status CopyValues(const StoredTensor& stored, int64_t first, const at::Tensor& out) {
  if (out.numel() == 0) return absl::OkStatus();
  if (ScalarTypeOf(stored.type()).has_value()) {  // copied, since a file's tensors are not aligned
    const int64_t size = BytesOf(stored.type());
    std::memcpy(out.data_ptr(), stored.bytes().data() + first * size, out.nbytes());
    return absl::OkStatus();
  }
  const absl::Span<float> values(out.data_ptr<float>(), static_cast<size_t>(out.numel()));
  if (WidenInThreads(stored, first, values)) return absl::OkStatus();
  return NotNumbers(stored);
}

absl::StatusOr<at::Tensor> ReadStored(const StoredTensor& stored, const at::TensorOptions& held) {
  const std::optional<at::ScalarType> type = ScalarTypeOf(stored.type());
  if (!type.has_value()) return ReadCodes(stored, held);
  const at::Tensor own = at::empty(stored.entry->shape, at::TensorOptions(*type));
  REEL_RETURN_IF_ERROR(CopyValues(stored, 0, own));
  stored.file->DropPages(*stored.entry);
  return own.to(held);
}

bool HasE4m3Codes(const StoredTensor& stored) {
  const std::vector<int64_t>& shape = stored.entry->shape;
  if (stored.type() != TensorType::kF8E4M3 || shape.size() != 2) return false;
  const auto scales = static_cast<int64_t>(stored.scales.size());
  return stored.divisor == 1 && stored.added.empty() && (scales <= 1 || scales == shape[0]);
}

absl::StatusOr<CodedWeight> ReadE4m3Codes(const StoredTensor& stored, at::Device device) {
  const std::vector<int64_t>& shape = stored.entry->shape;
  CodedWeight coded = EmptyE4m3(shape, device);
  if (device.is_meta()) return coded;
  const at::Tensor bytes = at::empty(shape, at::kByte);
  std::memcpy(bytes.data_ptr(), stored.bytes().data(), bytes.nbytes());
  if (bytes.bitwise_and(kE4m3NotANumber).eq(kE4m3NotANumber).any().item<bool>()) {
    return NotNumbers(stored);
  }
  coded.codes.copy_(bytes.view(at::kFloat8_e4m3fn));
  if (stored.scales.size() > 1) {
    coded.scale.copy_(at::tensor(stored.scales));
  } else {
    coded.scale.fill_(stored.scales.empty() ? 1.0f : stored.scales[0]);
  }
  stored.file->DropPages(*stored.entry);
  return coded;
}

}  // namespace reel::model
