// SPDX-License-Identifier: Apache-2.0
// The values of a video between two passes, in the host's memory. From them a pipeline makes the
// passes that a draft left out, or holds them in another video; `model/states` turns them into a
// file and back.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace reel::model {

struct StateTensor {
  enum class Type { kF32, kU8 };
  Type type = Type::kF32;
  std::vector<int64_t> shape;
  std::string bytes;  // dense, little-endian

  friend bool operator==(const StateTensor&, const StateTensor&) = default;
};

// The normalised latents of the last pass that is made, and what its family adds under names of
// its own, such as the position of a generator.
struct PassState {
  static constexpr char kLatents[] = "latents";             // [1, C, F, h, w], fp32
  static constexpr char kAudioLatents[] = "audio_latents";  // [1, C, A, bins], fp32
  // Of whole videos whose decoder takes noise, as the latents: that with which they are decoded.
  static constexpr char kDecodeNoise[] = "decode_noise";

  // The most bytes of a state as a file: four times the latents of the largest video, and more.
  static constexpr int64_t kMostFileBytes = int64_t{256} << 20;

  int passes = 0;  // that are made
  std::map<std::string, StateTensor> tensors;

  friend bool operator==(const PassState&, const PassState&) = default;
};

}  // namespace reel::model
