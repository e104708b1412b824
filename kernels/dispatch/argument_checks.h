// SPDX-License-Identifier: Apache-2.0
// The door of every operator: what it refuses, in the same words for all. Included by operators'
// .cc files only.
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

  // Rank within [min_rank, max_rank], legal sizes, data of the stream's device, fp16, bf16 or fp32.
  // Every tensor comes through this or Typed first.
  void Floating(const char* name, const TensorView& view, int min_rank = 1,
                int max_rank = kMaxRank);
  // The same for one given type, e.g. positions.
  void Typed(const char* name, const TensorView& view, DtypeMask dtypes, int min_rank,
             int max_rank);

  // Floating, with sizes and dtype equal to those of `of`.
  void Like(const char* name, const TensorView& view, const char* of_name, const TensorView& of);
  // Exactly these sizes.
  void Sizes(const char* name, const TensorView& view, std::initializer_list<int64_t> sizes);
  // A per-channel vector [width] beside rows of `x`, if it is there.
  void Channels(const char* name, const std::optional<TensorView>& view, const TensorView& x);
  // One of [D], [B,D], [B,1,D], [B,S,D] beside x [B,S,D], if it is there, with the per-channel
  // vector that is added to it; which has no meaning alone. `listed`: each row of x is told which
  // of [M,D] or [M,1,D] it takes.
  void Modulation(const char* name, const std::optional<TensorView>& view,
                  const std::optional<TensorView>& bias, const TensorView& x, bool listed = false);
  // The dtype of `x`, or fp32 beside a 16-bit `x`.
  void VectorDtype(const char* name, const TensorView& view, const TensorView& x);

  // Names no element twice, and touches none of the other tensors of this call; but it may be
  // exactly one of those in `may_be`. After all tensors have been named.
  void Output(const char* name, const TensorView& view,
              std::initializer_list<const TensorView*> may_be = {});

  // Finite, and not below zero.
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
