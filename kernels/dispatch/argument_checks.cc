// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/argument_checks.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace reel::kernels {
namespace {

std::string DeviceName(int device) {
  return device < 0 ? "the CPU" : absl::StrCat("device ", device);
}

std::string Named(const char* name, const TensorView& view) {
  return absl::StrCat(name, " ", Describe(view));
}

}  // namespace

void ArgumentChecks::Refuse(absl::StatusCode code, const std::string& text) {
  status_ = absl::Status(code, absl::StrCat(op_, ": ", text));
}

void ArgumentChecks::Register(const char* name, const TensorView& view, int min_rank,
                              int max_rank) {
  tensors_.emplace_back(name, &view);
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  if (view.rank < min_rank || view.rank > max_rank) {
    return Refuse(kInvalid, absl::StrCat("The rank is out of range: ", name, " has rank ",
                                         view.rank, ", legal are ", min_rank, " to ", max_rank));
  }
  for (const int64_t size : view.shape()) {
    if (size < 0) {
      return Refuse(kInvalid, absl::StrCat("A size is negative: ", Named(name, view)));
    }
  }
  if (view.device != stream_.device) {
    return Refuse(kInvalid, absl::StrCat("The tensor is on another device than the stream: ", name,
                                         " on ", DeviceName(view.device), ", stream on ",
                                         DeviceName(stream_.device)));
  }
  if (view.num_elements() == 0) return;
  if (view.data == nullptr) {
    return Refuse(kInvalid, absl::StrCat("The tensor has no data: ", Named(name, view)));
  }
  if (reinterpret_cast<uintptr_t>(view.data) % static_cast<uintptr_t>(DtypeSize(view.dtype)) != 0) {
    return Refuse(kInvalid,
                  absl::StrCat("The data is not aligned to its elements: ", Named(name, view)));
  }
}

void ArgumentChecks::Floating(const char* name, const TensorView& view, int min_rank,
                              int max_rank) {
  Typed(name, view, kAnyFloating, min_rank, max_rank);
}

void ArgumentChecks::Typed(const char* name, const TensorView& view, DtypeMask dtypes, int min_rank,
                           int max_rank) {
  if (!ok()) return;
  if ((dtypes & MaskOf(view.dtype)) == 0) {
    std::vector<std::string> legal;
    for (int32_t i = 0; i <= static_cast<int32_t>(Dtype::kI8); ++i) {
      const auto dtype = static_cast<Dtype>(i);
      if ((dtypes & MaskOf(dtype)) != 0) legal.emplace_back(DtypeName(dtype));
    }
    return Refuse(absl::StatusCode::kUnimplemented,
                  absl::StrCat("The dtype is not supported: ", name, " is ", DtypeName(view.dtype),
                               ", legal are ", absl::StrJoin(legal, ", ")));
  }
  Register(name, view, min_rank, max_rank);
}

void ArgumentChecks::Like(const char* name, const TensorView& view, const char* of_name,
                          const TensorView& of) {
  Floating(name, view);
  Require(view.dtype == of.dtype && view.shape() == of.shape(),
          ok() ? absl::StrCat("Sizes and dtype must be equal: ", Named(name, view), ", ",
                              Named(of_name, of))
               : "");
}

void ArgumentChecks::Sizes(const char* name, const TensorView& view,
                           std::initializer_list<int64_t> sizes) {
  Require(view.shape() == absl::MakeConstSpan(sizes.begin(), sizes.size()),
          ok() ? absl::StrCat("The sizes do not fit: ", Named(name, view), ", expected [",
                              absl::StrJoin(sizes, ", "), "]")
               : "");
}

void ArgumentChecks::Channels(const char* name, const std::optional<TensorView>& view,
                              const TensorView& x) {
  if (!view.has_value()) return;
  Floating(name, *view);
  if (ok()) Sizes(name, *view, {x.size(-1)});
  VectorDtype(name, *view, x);
}

void ArgumentChecks::Modulation(const char* name, const std::optional<TensorView>& view,
                                const std::optional<TensorView>& bias, const TensorView& x,
                                bool listed) {
  Require(view.has_value() || !bias.has_value(),
          ok() ? absl::StrCat("A bias is given without what it is added to: ", name) : "");
  if (!view.has_value()) return;
  listed ? Listed(name, *view, x) : Broadcast(name, *view, x);
  Channels("its bias", bias, x);
}

void ArgumentChecks::Broadcast(const char* name, const TensorView& view, const TensorView& x) {
  Floating(name, view, 1, 3);
  VectorDtype(name, view, x);
  if (!ok()) return;
  const int64_t batch = x.size(0);
  const int64_t tokens = x.size(1);
  const int64_t width = x.size(2);
  const bool fits = view.size(-1) == width && (view.rank < 2 || view.size(0) == batch) &&
                    (view.rank < 3 || view.size(1) == 1 || view.size(1) == tokens);
  Require(fits, absl::StrCat("The vector does not broadcast over the rows: ", Named(name, view),
                             " beside [", batch, ", ", tokens, ", ", width, "]; legal are [", width,
                             "], [", batch, ", ", width, "], [", batch, ", 1, ", width, "], [",
                             batch, ", ", tokens, ", ", width, "]"));
}

void ArgumentChecks::Listed(const char* name, const TensorView& view, const TensorView& x) {
  Floating(name, view, 2, 3);
  VectorDtype(name, view, x);
  if (!ok()) return;
  const int64_t width = x.size(2);
  Require(view.size(-1) == width && (view.rank < 3 || view.size(1) == 1),
          absl::StrCat("Rows that are told which vector they take need a list of them: ",
                       Named(name, view), "; legal are [M, ", width, "] and [M, 1, ", width, "]"));
}

void ArgumentChecks::VectorDtype(const char* name, const TensorView& view, const TensorView& x) {
  Require(view.dtype == x.dtype || view.dtype == Dtype::kF32,
          ok() ? absl::StrCat("The dtypes do not mix: ", name, " is ", DtypeName(view.dtype),
                              " beside ", DtypeName(x.dtype), ", legal are ", DtypeName(x.dtype),
                              " and fp32")
               : "");
}

void ArgumentChecks::Output(const char* name, const TensorView& view,
                            std::initializer_list<const TensorView*> may_be) {
  if (!ok()) return;
  if (MayRepeatElements(view)) {
    return Refuse(absl::StatusCode::kInvalidArgument,
                  absl::StrCat("An output must not name an element twice: ", Named(name, view)));
  }
  for (const auto& [other_name, other] : tensors_) {
    if (other == &view) continue;
    const bool may_be_it = std::find(may_be.begin(), may_be.end(), other) != may_be.end();
    const Overlap overlap = OverlapOf(view, *other);
    if (overlap == Overlap::kNone || (overlap == Overlap::kSame && may_be_it)) continue;
    return Refuse(absl::StatusCode::kInvalidArgument,
                  absl::StrCat("The output overlaps another tensor: ", Named(name, view), " and ",
                               Named(other_name, *other),
                               may_be_it ? "; legal are none or exactly the same" : ""));
  }
}

void ArgumentChecks::Epsilon(double eps) {
  Require(std::isfinite(eps) && eps >= 0,
          ok() ? absl::StrCat("eps must be finite and not below zero: ", eps) : "");
}

void ArgumentChecks::Require(bool holds, std::string_view sentence) {
  if (ok() && !holds) Refuse(absl::StatusCode::kInvalidArgument, std::string(sentence));
}

std::vector<std::string> ArgumentChecks::Tensors() const {
  std::vector<std::string> all;
  for (const auto& [name, view] : tensors_) {
    const auto strides = absl::MakeConstSpan(view->strides.data(), view->shape().size());
    all.push_back(view->is_contiguous() ? Named(name, *view)
                                        : absl::StrCat(Named(name, *view), " strides [",
                                                       absl::StrJoin(strides, ", "), "]"));
  }
  return all;
}

std::string ArgumentChecks::Shapes() const {
  return absl::StrJoin(tensors_, ", ", [](std::string* out, const auto& tensor) {
    *out += Named(tensor.first, *tensor.second);
  });
}

}  // namespace reel::kernels
