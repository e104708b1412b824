// SPDX-License-Identifier: Apache-2.0
#include "server/render/exact_file.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"

namespace reel::render {

void ExactFile::Add(TensorShape tensor, absl::Span<const float> values) {
  tensors_.push_back(std::move(tensor));
  values_.insert(values_.end(), values.begin(), values.end());
}

absl::Status ExactFile::PushSamples(const model::SamplesView& samples) {
  sound_.insert(sound_.end(), samples.interleaved.begin(), samples.interleaved.end());
  if (!samples.is_last) return absl::OkStatus();
  const std::vector<float> all = std::exchange(sound_, {});
  const auto channels = static_cast<size_t>(samples.format.channels);
  const size_t count = all.size() / channels;
  std::vector<float> wave;
  wave.reserve(all.size());
  for (size_t channel = 0; channel < channels; ++channel) {
    for (size_t i = 0; i < count; ++i) wave.push_back(all[i * channels + channel]);
  }
  Add({"wave", {static_cast<int64_t>(channels), static_cast<int64_t>(count)}}, wave);
  metadata_["sample_rate"] = absl::StrCat(samples.format.sample_rate);
  return absl::OkStatus();
}

absl::Status ExactFile::Begin() {
  if (!sound_.empty()) return absl::InternalError("A frame came before the last sound");
  std::vector<TensorShape> all = tensors_;
  all.push_back(frames_);
  writer_.emplace(file_, std::move(all), std::move(metadata_));
  REEL_RETURN_IF_ERROR(writer_->WriteHeader());
  const std::vector<float> values = std::exchange(values_, {});
  return writer_->Write(
      {reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(float)});
}

absl::Status ExactFile::Push(const model::FramesView& frames) {
  if (!writer_.has_value()) REEL_RETURN_IF_ERROR(Begin());
  return writer_->Write(frames.data);
}

absl::Status ExactFile::Finish() {
  if (!writer_.has_value()) REEL_RETURN_IF_ERROR(Begin());
  return writer_->Finish();
}

}  // namespace reel::render
