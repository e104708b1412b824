// SPDX-License-Identifier: Apache-2.0
// Runs one call of the plug-in test: operands in buffers of their own, computed by `loops` on the
// host and by the variant under test in its memory. Included by plugin_check.cc only.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/float_types.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/hosted_variant.h"
#include "kernels/dispatch/kernel_variant.h"
#include "kernels/plugins/check_memory.h"
#include "kernels/rows/row_layout.h"

namespace reel::kernels {

// The layout of a call's rows in memory.
struct TrialLayout {
  const char* name;
  int64_t width;
  int64_t padding = 0;     // extra elements after each row
  int64_t inner = 1;       // stride between neighbours
  bool two_dims = false;   // rows as [2, 3], with vectors for the first dimension
  bool joined = false;     // gated calls: both halves in one row
  bool gate_last = false;  // and their order
};

inline constexpr TrialLayout kTrialLayouts[] = {
    {.name = "rows of 64", .width = 64},
    {.name = "rows of 2048", .width = 2048},
    {.name = "rows of 33", .width = 33},
    {.name = "rows with gaps", .width = 40, .padding = 7},
    {.name = "elements with gaps", .width = 24, .padding = 3, .inner = 2},
    {.name = "vectors of a batch", .width = 64, .two_dims = true},
    {.name = "halves of one row", .width = 64, .joined = true},
    {.name = "halves of one row, the gate last", .width = 64, .joined = true, .gate_last = true},
};
inline constexpr int64_t kTrialRows = 6;

inline float TrialElement(const std::byte* data, Dtype dtype) {
  uint32_t bits = 0;
  std::memcpy(&bits, data, static_cast<size_t>(DtypeSize(dtype)));
  if (dtype == Dtype::kF32) return std::bit_cast<float>(bits);
  const auto half = static_cast<uint16_t>(bits);
  return dtype == Dtype::kBf16 ? ToFloat(BFloat16{half}) : ToFloat(Half{half});
}

inline void SetTrialElement(std::byte* data, Dtype dtype, float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (dtype == Dtype::kBf16) bits = RoundTo<BFloat16>(value).bits;
  if (dtype == Dtype::kF16) bits = RoundTo<Half>(value).bits;
  std::memcpy(data, &bits, static_cast<size_t>(DtypeSize(dtype)));
}

// A unit in the last place of `value`.
inline double UlpOf(double value, Dtype dtype) {
  const int digits = dtype == Dtype::kF32 ? 23 : dtype == Dtype::kF16 ? 10 : 7;
  const int least = dtype == Dtype::kF16 ? -14 : -126;
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, std::max(exponent - 1, least) - digits);
}

template <typename Params>
class Trial {
 public:
  using Operand = RowOperand Params::*;

  Trial(const TrialLayout& layout, Params params) : layout_(layout), params_(std::move(params)) {
    params_.shape.width = layout.width;
    params_.shape.rows = kTrialRows;
    params_.shape.dims = layout.two_dims ? 2 : 1;
    params_.shape.sizes[0] = layout.two_dims ? 2 : kTrialRows;
    if (layout.two_dims) params_.shape.sizes[1] = kTrialRows / 2;
  }

  const Params& params() const { return params_; }

  // Elements are random between -2 and 2.
  void Rows(Operand operand, Dtype dtype) { AddRows(operand, dtype, RowStride(), 0, true); }
  void Output(Operand operand, Dtype dtype) { AddRows(operand, dtype, RowStride(), 0, false); }
  // [width], or one for each entry of the first dim if the layout has two dims and `batched`.
  void Vector(Operand operand, Dtype dtype, bool batched) {
    RowOperand& made = params_.*operand;
    made.dtype = dtype;
    if (layout_.two_dims && batched) made.strides[0] = layout_.width;
    buffers_.push_back({Fill(2 * layout_.width, dtype, true), dtype, {{operand, 0}}});
  }
  // Two operands as halves of one row.
  void Halves(Operand first, Operand second, Dtype dtype) {
    const int64_t stride = 2 * layout_.width;
    AddRows(first, dtype, stride, 0, true);
    SetRows(second, dtype, stride);
    buffers_.back().operands.push_back({second, layout_.width});
  }

  // False: the variant does not take this call.
  absl::StatusOr<bool> Run(const KernelVariant& loops, const HostedVariant& variant,
                           CheckMemory& memory, DeviceStream stream) {
    memory.Clear();
    Params tried = params_;
    std::vector<void*> places;
    for (const Buffer& buffer : buffers_) {
      REEL_ASSIGN_OR_RETURN(void* const place, memory.Place(buffer.bytes));
      places.push_back(place);
      Point(tried, buffer, static_cast<std::byte*>(place));
    }
    if (!variant.Accepts(&tried)) return false;
    REEL_RETURN_IF_ERROR(variant.Launch(&tried, stream));
    for (Buffer& buffer : buffers_) Point(params_, buffer, buffer.bytes.data());
    loops.launch(&params_, nullptr);
    for (size_t i = 0; i < buffers_.size(); ++i) {
      std::vector<std::byte> got(buffers_[i].bytes.size());
      REEL_RETURN_IF_ERROR(memory.Read(places[i], absl::MakeSpan(got)));
      REEL_RETURN_IF_ERROR(Compare(got, buffers_[i]));
    }
    return true;
  }

 private:
  struct Buffer {
    std::vector<std::byte> bytes;
    Dtype dtype;
    std::vector<std::pair<Operand, int64_t>> operands;  // and their first elements
  };

  int64_t RowStride() const { return layout_.width * layout_.inner + layout_.padding; }

  void SetRows(Operand operand, Dtype dtype, int64_t stride) {
    RowOperand& made = params_.*operand;
    made.dtype = dtype;
    made.inner = layout_.inner;
    made.strides[0] = layout_.two_dims ? stride * params_.shape.sizes[1] : stride;
    if (layout_.two_dims) made.strides[1] = stride;
  }
  void AddRows(Operand operand, Dtype dtype, int64_t stride, int64_t first, bool drawn) {
    SetRows(operand, dtype, stride);
    buffers_.push_back({Fill(kTrialRows * stride, dtype, drawn), dtype, {{operand, first}}});
  }

  // An output is filled with NaN, so that missing writes show.
  std::vector<std::byte> Fill(int64_t elements, Dtype dtype, bool drawn) {
    const int64_t size = DtypeSize(dtype);
    std::vector<std::byte> bytes(static_cast<size_t>(elements * size), std::byte{0xff});
    for (int64_t i = 0; drawn && i < elements; ++i) {
      random_ = random_ * 6364136223846793005u + 1442695040888963407u;
      const float value = static_cast<float>(random_ >> 40) * 0x1p-22f - 2.0f;
      SetTrialElement(bytes.data() + i * size, dtype, value);
    }
    return bytes;
  }

  static void Point(Params& params, const Buffer& buffer, const std::byte* base) {
    for (const auto& [operand, first] : buffer.operands) {
      (params.*operand).data = const_cast<std::byte*>(base) + first * DtypeSize(buffer.dtype);
    }
  }

  absl::Status Compare(const std::vector<std::byte>& got, const Buffer& buffer) const {
    const auto size = static_cast<size_t>(DtypeSize(buffer.dtype));
    double largest = 0;
    for (size_t at = 0; at < got.size(); at += size) {
      const double value = TrialElement(&buffer.bytes[at], buffer.dtype);
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    }
    for (size_t at = 0; at < got.size(); at += size) {
      if (std::memcmp(&got[at], &buffer.bytes[at], size) == 0) continue;
      const double expected = TrialElement(&buffer.bytes[at], buffer.dtype);
      const double value = TrialElement(&got[at], buffer.dtype);
      const double allowed = 2 * UlpOf(expected, buffer.dtype) + 0x1p-19 * largest;
      if (std::abs(value - expected) <= allowed) continue;
      return absl::DataLossError(absl::StrCat(
          "It computes something else in ", DtypeName(buffer.dtype), ", ", layout_.name,
          ": element ", at / size, " is ", value, ", the reference has ", expected));
    }
    return absl::OkStatus();
  }

  const TrialLayout& layout_;
  Params params_;
  std::vector<Buffer> buffers_;
  uint64_t random_ = 20260801;
};

}  // namespace reel::kernels
