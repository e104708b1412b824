// SPDX-License-Identifier: Apache-2.0
// Writes one video as tensors of 32-bit floats into a .safetensors file: what was added, `wave`
// [channels, samples] and `frames` [T, H, W, 3] in 0..1. The wave has the model's own rate,
// `sample_rate` of the metadata.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/frame_sink.h"
#include "server/render/safetensors_writer.h"

namespace reel::render {

class ExactFile final : public model::FrameSink {
 public:
  // `file` outlives this. `frames`: the shape of all frames.
  ExactFile(PartFile& file, TensorShape frames, bool takes_sound)
      : file_(file), frames_(std::move(frames)), takes_sound_(takes_sound) {}

  // Before the first frame; copies.
  void Add(TensorShape tensor, absl::Span<const float> values);

  model::FrameFormat format() const override { return model::FrameFormat::kRgbF32; }
  bool HasRoom() const override { return true; }
  absl::Status Push(const model::FramesView& frames) override;
  bool TakesSound() const override { return takes_sound_; }
  absl::Status PushSamples(const model::SamplesView& samples) override;

  // INTERNAL unless all frames came.
  absl::Status Finish();

 private:
  absl::Status Begin();

  PartFile& file_;
  const TensorShape frames_;
  const bool takes_sound_;
  std::vector<TensorShape> tensors_;  // before the frames
  std::vector<float> values_;         // of those
  std::vector<float> sound_;          // until its last part comes
  std::map<std::string, std::string> metadata_;
  std::optional<SafetensorsWriter> writer_;  // from the first frame on
};

}  // namespace reel::render
