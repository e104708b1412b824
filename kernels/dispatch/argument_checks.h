// SPDX-License-Identifier: Apache-2.0
// Checks every operator's arguments, with the same messages for all. Included by operators' .cc
// files only.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"

namespace reel::kernels {

// Collects the tensors of one call and keeps the first refusal; later checks are then skipped.
// Borrows the views.
class ArgumentChecks {
 public:
  ArgumentChecks(const char* op, DeviceStream stream) : op_(op), stream_(stream) {}

  // Rank within [min_rank, max_rank], legal sizes, data on the stream's device, fp16, bf16 or fp32.
  // Every tensor is checked by this or Typed first.
  void Floating(const char* name, const TensorView& view, int min_rank = 1,
                int max_rank = kMaxRank);
  // The same for one given type, e.g. positions.
  void Typed(const char* name, const TensorView& view, DtypeMask dtypes, int min_rank,
             int max_rank);

  // Floating, with the sizes and dtype of `of`.
  void Like(const char* name, const TensorView& view, const char* of_name, const TensorView& of);
  // Exactly these sizes.
  void Sizes(const char* name, const TensorView& view, std::initializer_list<int64_t> sizes);
  // A per-channel vector [width] beside rows of `x`, if given.
  void Channels(const char* name, const std::optional<TensorView>& view, const TensorView& x);
  // A plain view would become an optional that dies before it is compared with the output.
  void Channels(const char* name, std::optional<TensorView>&& view, const TensorView& x) = delete;
  // One of [D], [B,D], [B,1,D], [B,S,D] beside x [B,S,D], if given, with the per-channel vector
  // that is added to it, which alone is refused. `listed`: an index says which of [M,D] or [M,1,D]
  // each row of x takes.
  void Modulation(const char* name, const std::optional<TensorView>& view,
                  const std::optional<TensorView>& bias, const TensorView& x, bool listed = false);
  // The dtype of `x`, or fp32 beside a 16-bit `x`.
  void VectorDtype(const char* name, const TensorView& view, const TensorView& x);

  // Names no element twice, and overlaps no other tensor of this call, but may be exactly one of
  // those in `may_be`. Call after all tensors have been named.
  void Output(const char* name, const TensorView& view,
              std::initializer_list<const TensorView*> may_be = {});

  // Finite and not negative.
  void Epsilon(double eps);
  // INVALID_ARGUMENT with `sentence` and the operator's shapes unless `holds`.
  void Require(bool holds, std::string_view sentence);

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }
  // "x bf16 [2, 8], weight bf16 [8]"
  std::string Shapes() const;
  // {"x bf16 [2, 8] strides [16, 1]", "weight bf16 [8]"}
  std::vector<std::string> Tensors() const;

 private:
  void Broadcast(const char* name, const TensorView& view, const TensorView& x);
  void Listed(const char* name, const TensorView& view, const TensorView& x);
  void Refuse(absl::StatusCode code, const std::string& text);
  void Register(const char* name, const TensorView& view, int min_rank, int max_rank);

  const char* op_;
  DeviceStream stream_;
  absl::Status status_;
  std::vector<std::pair<const char*, const TensorView*>> tensors_;
};

}  // namespace reel::kernels
