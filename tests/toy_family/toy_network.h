// SPDX-License-Identifier: Apache-2.0
// A transformer of one block with two streams of tokens, pictures and sound, which attend to each
// other and to a text. Random weights.
#pragma once

#include <vector>

#include "model/bridge/ops.h"

namespace reel::model::toy {

inline constexpr int64_t kWidth = 16, kVideoChannels = 4, kAudioChannels = 2;

// Tokens of one video; both streams have as many guidance rows as the text once they are shared.
struct Streams {
  at::Tensor video;  // [B, S, kVideoChannels]
  at::Tensor audio;  // [B, A, kAudioChannels]
};

// One video's part of a call.
struct ToyInputs {
  Streams x;        // [1, ...]: equal for all of its rows
  at::Tensor time;  // [1]
  at::Tensor text;  // [B, kWidth]
};

class ToyNetwork {
 public:
  ToyNetwork();

  // The velocities of each video's rows, of all videos in one call.
  std::vector<Streams> Velocities(const Ops& ops, const std::vector<ToyInputs>& videos) const;

 private:
  struct Stream {
    at::Tensor in, qkv, out, head;
  };
  static Stream Make(int64_t channels, at::Generator& generator);

  Stream video_, audio_;
};

// A call of the network, as model/graphs takes it.
struct ToyCall {
  using Kind = std::vector<int64_t>;
  class Copy;

  const ToyNetwork& network;
  const std::vector<ToyInputs>& videos;

  Kind kind() const;
  bool may_come_again() const { return true; }
  bool may_be_recorded() const { return true; }
  int64_t input_bytes() const;
  int64_t work_bytes() const { return 8 * input_bytes(); }
  // Video, audio, video, audio ...
  std::vector<at::Tensor> Compute(const Ops& ops) const;
};

class ToyCall::Copy {
 public:
  explicit Copy(const ToyCall& call);
  void Fill(const ToyCall& call);
  ToyCall call() const { return {network_, videos_}; }

 private:
  const ToyNetwork& network_;
  std::vector<ToyInputs> videos_;
};

}  // namespace reel::model::toy
