// SPDX-License-Identifier: Apache-2.0
// A borrowed tensor: pointer, type, device, sizes and strides. What operators take and write.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "absl/types/span.h"
#include "kernels/base/dtype.h"

namespace reel::kernels {

inline constexpr int kMaxRank = 6;
inline constexpr int kCpuDevice = -1;

// A value. Never owns, never checks: operators refuse what does not fit them.
struct TensorView {
  void* data = nullptr;
  Dtype dtype = Dtype::kF32;
  int device = kCpuDevice;
  int rank = 0;  // more than kMaxRank is refused by every operator
  std::array<int64_t, kMaxRank> sizes{};
  std::array<int64_t, kMaxRank> strides{};  // in elements; 0 repeats, negative runs backwards

  int64_t size(int dim) const { return sizes[Index(dim)]; }
  int64_t stride(int dim) const { return strides[Index(dim)]; }
  int64_t num_elements() const;
  bool is_contiguous() const;
  // Borrowed from this view, so not of a temporary one.
  absl::Span<const int64_t> shape() const&;
  absl::Span<const int64_t> shape() const&& = delete;

 private:
  // From the end where negative.
  size_t Index(int dim) const { return static_cast<size_t>(dim < 0 ? dim + rank : dim); }
};

// Row-major, without gaps.
TensorView Contiguous(void* data, Dtype dtype, absl::Span<const int64_t> sizes,
                      int device = kCpuDevice);
inline TensorView Contiguous(void* data, Dtype dtype, std::initializer_list<int64_t> sizes,
                             int device = kCpuDevice) {
  return Contiguous(data, dtype, absl::MakeConstSpan(sizes.begin(), sizes.size()), device);
}
// With strides of the caller, as many as sizes.
TensorView Strided(void* data, Dtype dtype, absl::Span<const int64_t> sizes,
                   absl::Span<const int64_t> strides, int device = kCpuDevice);

// Elements [start, start + length) of one dimension.
TensorView Slice(TensorView view, int dim, int64_t start, int64_t length);

// First byte and one past the last; equal when there are no elements.
struct ByteRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};
ByteRange BytesOf(const TensorView& view);

enum class Overlap {
  kNone,
  kSame,     // pointer, sizes and strides are equal
  kPartial,  // some byte belongs to both, or the contrary could not be shown
};
// Exact for nested strides, so that the slices of one packed buffer do not count as overlapping.
Overlap OverlapOf(const TensorView& a, const TensorView& b);

// True when two indices may name the same element, as in an expanded view: no output may be such.
bool MayRepeatElements(const TensorView& view);

// "bf16 [2, 1344, 2048]", with strides where they are not the contiguous ones.
std::string Describe(const TensorView& view);

}  // namespace reel::kernels
