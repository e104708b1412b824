// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/tensor_view.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace reel::kernels {
namespace {

// `rank` keeps a value above the limit, but only kMaxRank sizes are stored.
size_t Kept(int rank) { return static_cast<size_t>(std::clamp(rank, 0, kMaxRank)); }

// A term of a difference of two addresses: step * k for low <= k <= high, in bytes.
struct Term {
  int64_t step;
  int64_t low;
  int64_t high;
};

void AddTerms(const TensorView& view, bool negative, std::vector<Term>& terms) {
  const int64_t bytes = DtypeSize(view.dtype);
  for (size_t d = 0; d < Kept(view.rank); ++d) {
    int64_t step = view.strides[d] * bytes;
    int64_t low = 0;
    int64_t high = view.sizes[d] - 1;
    if ((step < 0) != negative) {
      low = -high;
      high = 0;
    }
    step = step < 0 ? -step : step;
    if (step == 0 || low == high) continue;
    const auto known = std::find_if(terms.begin(), terms.end(),
                                    [&](const Term& term) { return term.step == step; });
    if (known == terms.end()) {
      terms.push_back({step, low, high});
    } else {
      known->low += low;
      known->high += high;
    }
  }
}

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - ((a % b != 0 && a < 0) ? 1 : 0); }

// Whether a sum of the terms from `index` on is strictly between `low` and `high`. Terms are
// sorted, largest step first, so that each level leaves few candidates; `budget` bounds the search.
bool Reaches(absl::Span<const Term> terms, int64_t low, int64_t high, int& budget) {
  if (terms.empty()) return low < 0 && high > 0;
  if (--budget < 0) return true;
  int64_t rest_low = 0;
  int64_t rest_high = 0;
  for (const Term& term : terms.subspan(1)) {
    rest_low += term.step * term.low;
    rest_high += term.step * term.high;
  }
  const Term& first = terms.front();
  // low < step * k + rest < high has a solution only for these k.
  const int64_t from = std::max(first.low, FloorDiv(low - rest_high, first.step) + 1);
  const int64_t to = std::min(first.high, -FloorDiv(-(high - rest_low), first.step) - 1);
  for (int64_t k = from; k <= to; ++k) {
    if (Reaches(terms.subspan(1), low - first.step * k, high - first.step * k, budget)) return true;
    if (budget < 0) return true;
  }
  return false;
}

bool SameLayout(const TensorView& a, const TensorView& b) {
  if (a.data != b.data || a.dtype != b.dtype || a.rank != b.rank) return false;
  for (size_t d = 0; d < Kept(a.rank); ++d) {
    if (a.sizes[d] != b.sizes[d]) return false;
    if (a.sizes[d] != 1 && a.strides[d] != b.strides[d]) return false;
  }
  return true;
}

}  // namespace

int64_t TensorView::num_elements() const {
  int64_t count = 1;
  for (int64_t size : shape()) count *= size;
  return count;
}

bool TensorView::is_contiguous() const {
  if (num_elements() == 0) return true;
  int64_t expected = 1;
  for (size_t d = Kept(rank); d-- > 0;) {
    if (sizes[d] != 1 && strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

absl::Span<const int64_t> TensorView::shape() const& { return {sizes.data(), Kept(rank)}; }

TensorView Contiguous(void* data, Dtype dtype, absl::Span<const int64_t> sizes, int device) {
  TensorView view{.data = data,
                  .dtype = dtype,
                  .device = device,
                  .rank = static_cast<int>(sizes.size()),
                  .sizes = {},
                  .strides = {}};
  int64_t stride = 1;
  for (size_t d = Kept(view.rank); d-- > 0;) {
    view.sizes[d] = sizes[d];
    view.strides[d] = stride;
    stride *= std::max<int64_t>(sizes[d], 1);
  }
  return view;
}

TensorView Strided(void* data, Dtype dtype, absl::Span<const int64_t> sizes,
                   absl::Span<const int64_t> strides, int device) {
  TensorView view = Contiguous(data, dtype, sizes, device);
  for (size_t d = 0; d < std::min(Kept(view.rank), strides.size()); ++d) {
    view.strides[d] = strides[d];
  }
  return view;
}

TensorView Slice(TensorView view, int dim, int64_t start, int64_t length) {
  const auto d = static_cast<size_t>(dim < 0 ? dim + view.rank : dim);
  view.data = static_cast<char*>(view.data) + start * view.strides[d] * DtypeSize(view.dtype);
  view.sizes[d] = length;
  return view;
}

ByteRange BytesOf(const TensorView& view) {
  const auto base = reinterpret_cast<uintptr_t>(view.data);
  if (view.num_elements() == 0) return {base, base};
  int64_t low = 0;
  int64_t high = 1;
  for (size_t d = 0; d < Kept(view.rank); ++d) {
    const int64_t reach = view.strides[d] * (view.sizes[d] - 1);
    (reach < 0 ? low : high) += reach;
  }
  const int64_t bytes = DtypeSize(view.dtype);
  return {base + static_cast<uintptr_t>(low * bytes), base + static_cast<uintptr_t>(high * bytes)};
}

Overlap OverlapOf(const TensorView& a, const TensorView& b) {
  if (a.device != b.device) return Overlap::kNone;
  const ByteRange left = BytesOf(a);
  const ByteRange right = BytesOf(b);
  if (left.begin == left.end || right.begin == right.end) return Overlap::kNone;
  if (left.end <= right.begin || right.end <= left.begin) return Overlap::kNone;
  if (SameLayout(a, b)) return Overlap::kSame;
  std::vector<Term> terms;
  AddTerms(a, false, terms);
  AddTerms(b, true, terms);
  std::sort(terms.begin(), terms.end(),
            [](const Term& x, const Term& y) { return x.step > y.step; });
  // Elements of a are at a.data + s, those of b at b.data + t: they overlap if s - t is within an
  // element's length of b.data - a.data.
  const auto distance = static_cast<int64_t>(reinterpret_cast<uintptr_t>(b.data) -
                                             reinterpret_cast<uintptr_t>(a.data));
  int budget = 4096;
  const bool meets =
      Reaches(terms, distance - DtypeSize(a.dtype), distance + DtypeSize(b.dtype), budget);
  return meets ? Overlap::kPartial : Overlap::kNone;
}

bool MayRepeatElements(const TensorView& view) {
  std::vector<std::pair<int64_t, int64_t>> dims;  // |stride|, size
  for (size_t d = 0; d < Kept(view.rank); ++d) {
    if (view.sizes[d] == 0) return false;
    if (view.sizes[d] > 1) dims.emplace_back(std::abs(view.strides[d]), view.sizes[d]);
  }
  std::sort(dims.begin(), dims.end());
  int64_t reach = 0;  // sum of the smaller strides' ranges
  for (const auto& [stride, size] : dims) {
    if (stride <= reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

std::string Describe(const TensorView& view) {
  std::string text =
      absl::StrCat(DtypeName(view.dtype), " [", absl::StrJoin(view.shape(), ", "), "]");
  if (!view.is_contiguous()) {
    absl::StrAppend(&text, " strides [",
                    absl::StrJoin(absl::MakeConstSpan(view.strides.data(), Kept(view.rank)), ", "),
                    "]");
  }
  return text;
}

}  // namespace reel::kernels
