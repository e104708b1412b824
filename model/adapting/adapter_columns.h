// SPDX-License-Identifier: Apache-2.0
// The adapters that stand in the columns behind a model's layers.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "model/adapting/loaded_adapter.h"
#include "model/layers/adapter_room.h"

namespace reel::model {

// Whether the adapters of two jobs let them step in one call. In 8 bits, layers with adapters take
// rows in another form, which would change the rounding of a video without adapters. So that steps
// only with others without.
bool MayStepTogether(const AppliedAdapters& a, const AppliedAdapters& b,
                     const kernels::Execution& run);

// Confined to the engine thread. Writes are asked for on the current stream, as calls are, so that
// each call finds what was placed before it.
class AdapterColumns {
 public:
  using Jobs = absl::Span<const AppliedAdapters* const>;

  explicit AdapterColumns(AdapterRoom room) : room_(std::move(room)) {}

  const AdapterRoom& room() const { return room_; }
  // Whether the jobs' adapters fit, each once.
  bool HaveRoomFor(Jobs jobs) const;
  // Puts the jobs' adapters into the first columns, each once, in the jobs' order, but for those
  // whose scale is 0. Adapters that are in place are not written again. Returns each job's scale
  // for each column, fp32 [jobs, 1, columns], where columns is the least of 32, 64, 128, 256 and
  // all that holds them. Undefined: no job has adapters. A job alone always gets the same columns.
  // Needs HaveRoomFor.
  at::Tensor Place(Jobs jobs);
  // Frees the adapters and scales that nothing else holds.
  void Forget() {
    standing_.clear();
    scales_.reset();
  }

 private:
  // An adapter and what jobs take of its parts, which is in the columns; jobs that take other parts
  // have columns of their own. Scales of a whole adapter are not.
  struct Standing {
    std::shared_ptr<const LoadedAdapter> adapter;
    AdapterPartScales parts;

    friend bool operator==(const Standing&, const Standing&) = default;
  };
  using Adapters = std::vector<Standing>;

  static Adapters Distinct(Jobs jobs);
  int64_t Bucket(int64_t columns) const;
  // An adapter into the columns from `first` on.
  void Write(const Standing& wanted, int64_t first);
  void WriteWhereOthersStand(const Adapters& wanted);
  // A file under two names counts twice.
  static std::vector<float> ScalesOf(Jobs jobs, const Adapters& placed, int64_t columns);

  AdapterRoom room_;
  Adapters standing_;  // one behind the other, from the first column on
  // The latest scales, on the host and on the device.
  std::vector<float> host_scales_;
  at::Tensor scales_;
};

}  // namespace reel::model
