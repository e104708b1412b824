// SPDX-License-Identifier: Apache-2.0
#include "model/adapting/adapter_columns.h"

#include <algorithm>

#include "model/bridge/row_ops.h"
#include "model/bridge/upload.h"
#include "model/request_adapter.h"

namespace reel::model {

bool MayStepTogether(const AppliedAdapters& a, const AppliedAdapters& b,
                     const kernels::Execution& run) {
  const auto adds = [](const AppliedAdapter& applied) { return applied.scale != 0; };
  const bool alike = std::any_of(a.begin(), a.end(), adds) == std::any_of(b.begin(), b.end(), adds);
  return alike || FormOf(run) == RowForm::kPlain;
}

AdapterColumns::Adapters AdapterColumns::Distinct(Jobs jobs) {
  Adapters distinct;
  for (const AppliedAdapters* job : jobs) {
    for (const AppliedAdapter& applied : *job) {
      const Standing wanted = {applied.adapter, applied.parts};
      const bool is_new = std::find(distinct.begin(), distinct.end(), wanted) == distinct.end();
      if (applied.scale != 0 && is_new) distinct.push_back(wanted);
    }
  }
  return distinct;
}

bool AdapterColumns::HaveRoomFor(Jobs jobs) const {
  int64_t columns = 0;
  for (const Standing& standing : Distinct(jobs)) columns += standing.adapter->columns;
  return columns <= room_.columns();
}

int64_t AdapterColumns::Bucket(int64_t columns) const {
  int64_t bucket = kAdapterSlot;
  while (bucket < columns) bucket *= 2;
  return std::min(bucket, room_.columns());
}

// Columns behind an adapter's own may hold another's: their scales are 0, and 0 times a finite
// number adds nothing. Within its own, a layer that it leaves as it is must have zeros.
void AdapterColumns::Write(const Standing& wanted, int64_t first) {
  const LoadedAdapter& adapter = *wanted.adapter;
  auto own = adapter.layers.begin();
  for (size_t i = 0; i < room_.layers().size(); ++i) {
    const AdapterRoom::Layer& layer = room_.layers()[i];
    const int64_t slot = first / kAdapterSlot, end = slot + adapter.columns / kAdapterSlot;
    const at::Tensor down = layer.down.slice(0, slot, end), up = layer.up.slice(1, slot, end);
    const bool has_own = own != adapter.layers.end() && own->index == i;
    const double scale = has_own ? wanted.parts[static_cast<size_t>(own->part)] : 0;
    if (scale != 0) {
      room_.Use(layer);
      down.copy_(own->down);
      up.copy_(scale == 1 ? own->up : own->up.mul(scale));
    } else if (room_.IsUsed(layer)) {
      up.zero_();
    }
    if (has_own) ++own;
  }
}

void AdapterColumns::WriteWhereOthersStand(const Adapters& wanted) {
  const auto [end, other] =
      std::mismatch(wanted.begin(), wanted.end(), standing_.begin(), standing_.end());
  if (end == wanted.end()) return;
  standing_.erase(other, standing_.end());
  int64_t first = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (i >= standing_.size()) {
      Write(wanted[i], first);
      standing_.push_back(wanted[i]);
    }
    first += wanted[i].adapter->columns;
  }
}

std::vector<float> AdapterColumns::ScalesOf(Jobs jobs, const Adapters& placed, int64_t columns) {
  std::vector<float> scales(jobs.size() * static_cast<size_t>(columns), 0.0f);
  for (size_t job = 0; job < jobs.size(); ++job) {
    auto first = scales.begin() + static_cast<int64_t>(job) * columns;
    for (const Standing& standing : placed) {
      const auto end = first + standing.adapter->columns;
      for (const AppliedAdapter& applied : *jobs[job]) {
        if (Standing{applied.adapter, applied.parts} != standing) continue;
        std::for_each(first, end, [&](float& scale) { scale += applied.scale; });
      }
      first = end;
    }
  }
  return scales;
}

at::Tensor AdapterColumns::Place(Jobs jobs) {
  const Adapters wanted = Distinct(jobs);
  if (wanted.empty()) return {};
  WriteWhereOthersStand(wanted);
  int64_t columns = 0;
  for (const Standing& standing : wanted) columns += standing.adapter->columns;
  columns = Bucket(columns);
  const auto count = static_cast<int64_t>(jobs.size());
  std::vector<float> scales = ScalesOf(jobs, wanted, columns);
  if (!scales_.defined() || scales_.size(0) != count || scales != host_scales_) {
    scales_ =
        Upload(at::tensor(scales).view({count, 1, columns}), room_.layers().front().up.device());
    host_scales_ = std::move(scales);
  }
  return scales_;
}

}  // namespace reel::model
