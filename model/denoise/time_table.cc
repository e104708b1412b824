// SPDX-License-Identifier: Apache-2.0
#include "model/denoise/time_table.h"

#include <algorithm>
#include <tuple>

#include "model/bridge/upload.h"

namespace reel::model {
at::Tensor StepTimes::ForTokens(const at::Tensor& by_time) const {
  if (!of_token.defined()) return by_time.view({1, 1});
  return by_time.index_select(0, of_token.flatten()).view_as(of_token);
}

bool TimeTable::Has(const TimedClip& clip, int step) const {
  return first_ <= step && step < end_ && mask_.is_same(clip.mask) && timesteps_ == clip.timesteps;
}

void TimeTable::Make(const TimedClip& clip, int step, RowsOfTimes rows_of) {
  const std::vector<float>& all = clip.timesteps;
  at::Tensor masks = at::zeros({1}, clip.x.options().dtype(at::kFloat)), of_token;
  if (clip.mask.defined()) std::tie(masks, of_token) = at::_unique(clip.mask, true, true);
  const int64_t together = std::max<int64_t>(1, kMostTimes / masks.numel());
  const int64_t first = step / together * together;
  const int64_t end = std::min(first + together, static_cast<int64_t>(all.size()));
  const at::Tensor on_host = at::tensor(std::vector<float>(all.begin() + first, all.begin() + end));
  const at::Tensor times = Upload(on_host.unsqueeze(1), masks.device());  // [steps, 1]
  at::Tensor values = times;
  if (clip.mask.defined()) {
    values = clip.each ? at::minimum(times, (1 - masks) * kTimesteps) : times * (1 - masks);
  }
  rows_ = rows_of(values.flatten());
  values_ = values;
  of_token_ = of_token;
  timesteps_ = all;
  mask_ = clip.mask;
  first_ = static_cast<int>(first);
  end_ = static_cast<int>(end);
}

TimeTable TimeTable::To(at::Device where, const at::Tensor& mask) const {
  const auto moved = [where](const at::Tensor& t) { return t.defined() ? t.to(where) : t; };
  TimeTable there = *this;
  there.mask_ = mask;
  there.values_ = moved(values_);
  there.of_token_ = moved(of_token_);
  there.rows_ = {moved(rows_.embedded), moved(rows_.rows)};
  return there;
}

StepTimes TimeTable::At(const TimedClip& clip, int step, RowsOfTimes rows_of) {
  if (!Has(clip, step)) Make(clip, step, rows_of);
  const int64_t count = values_.size(1), row = step - first_;
  return {values_[row], of_token_, rows_.Slice(row * count, count)};
}

}  // namespace reel::model
