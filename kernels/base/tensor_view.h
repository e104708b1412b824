// SPDX-License-Identifier: Apache-2.0
// A borrowed tensor: pointer, type, device, sizes and strides. Operators read and write these.
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

// A value. Never owns, never checks: operators refuse what they cannot use.
struct TensorView {
  void* data = nullptr;
  Dtype dtype = Dtype::kF32;
  int device = kCpuDevice;
  int rank = 0;  // every operator refuses more than kMaxRank
  std::array<int64_t, kMaxRank> sizes{};
  std::array<int64_t, kMaxRank> strides{};  // in elements; 0 repeats, negative runs backwards

  int64_t size(int dim) const { return sizes[Index(dim)]; }
  int64_t stride(int dim) const { return strides[Index(dim)]; }
  int64_t num_elements() const;
  bool is_contiguous() const;
  // Borrows from this view: do not call it on a temporary.
  absl::Span<const int64_t> shape() const&;
  absl::Span<const int64_t> shape() const&& = delete;

 private:
  // Negative: counted from the end.
  size_t Index(int dim) const { return static_cast<size_t>(dim < 0 ? dim + rank : dim); }
};

// Row-major, without gaps.
TensorView Contiguous(void* data, Dtype dtype, absl::Span<const int64_t> sizes,
                      int device = kCpuDevice);
inline TensorView Contiguous(void* data, Dtype dtype, std::initializer_list<int64_t> sizes,
                             int device = kCpuDevice) {
  return Contiguous(data, dtype, absl::MakeConstSpan(sizes.begin(), sizes.size()), device);
}
// With the caller's strides, as many as sizes.
TensorView Strided(void* data, Dtype dtype, absl::Span<const int64_t> sizes,
                   absl::Span<const int64_t> strides, int device = kCpuDevice);

// Elements [start, start + length) of one dimension.
TensorView Slice(TensorView view, int dim, int64_t start, int64_t length);

// First byte and one past the last; equal if there are no elements.
struct ByteRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};
ByteRange BytesOf(const TensorView& view);

enum class Overlap {
  kNone,
  kSame,     // pointer, sizes and strides are equal
  kPartial,  // they share a byte, or the search was too long to exclude it
};
// Exact for nested strides, so that the slices of one packed buffer do not count as overlapping.
Overlap OverlapOf(const TensorView& a, const TensorView& b);

// True if two indices may name the same element, as in an expanded view: no output may be like
// that.
bool MayRepeatElements(const TensorView& view);

// "bf16 [2, 1344, 2048]", with strides if they are not contiguous.
std::string Describe(const TensorView& view);

}  // namespace reel::kernels
