// SPDX-License-Identifier: Apache-2.0
// A tensor that a test owns: any type and layout, with every byte around its elements watched.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "kernels/base/tensor_view.h"

namespace reel::kernels {

enum class Layout {
  kContiguous,
  kOffset,    // starts one element into an aligned buffer
  kPadded,    // rows are followed by 24 elements of nobody's
  kStrided,   // every second element
  kPermuted,  // the last two dims are swapped in memory
};
const char* LayoutName(Layout layout);
inline const std::vector<Layout>& AllLayouts() {
  static const std::vector<Layout> layouts = {Layout::kContiguous, Layout::kOffset, Layout::kPadded,
                                              Layout::kStrided, Layout::kPermuted};
  return layouts;
}

class HostTensor {
 public:
  HostTensor(Dtype dtype, std::vector<int64_t> sizes, Layout layout = Layout::kContiguous);

  // On the CPU; `data` of the storage begins at an address aligned to 256 bytes.
  TensorView view() const { return view_; }
  std::vector<unsigned char>& storage() { return storage_; }
  size_t data_offset() const { return offset_; }

  int64_t size() const { return static_cast<int64_t>(positions_.size()); }
  // By row-major index, whatever the layout.
  double Get(int64_t index) const;
  void Set(int64_t index, double value);  // rounded to the type
  std::vector<double> Values() const;
  void SetAll(const std::function<double(int64_t)>& value);
  void FillNormal(uint64_t seed, double scale = 1);

  // No byte but those of elements has changed since construction.
  bool SurroundingsIntact() const;
  // No byte at all, elements included, has changed since the last Set or Fill by this class.
  std::vector<unsigned char> Snapshot() const { return storage_; }

 private:
  TensorView view_;
  std::vector<unsigned char> storage_;
  size_t offset_ = 0;               // of the view's data in the storage
  std::vector<int64_t> positions_;  // element offsets by row-major index
};

}  // namespace reel::kernels
