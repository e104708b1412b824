// SPDX-License-Identifier: Apache-2.0
#include "tests/toy_family/toy_network.h"

#include "model/bridge/attention_ops.h"
#include "model/tokens/token_layout.h"

namespace reel::model::toy {
namespace {

constexpr int64_t kHeads = 2;
constexpr double kEps = 1e-6;

at::Tensor Weight(int64_t out, int64_t in, at::Generator& generator) {
  return at::randn({out, in}, generator, at::kFloat) / std::sqrt(static_cast<double>(in));
}

at::Tensor Heads(const at::Tensor& x) { return x.view({x.size(0), x.size(1), kHeads, -1}); }

// A stream of all videos, while the block works on it.
struct StreamTokens {
  TokenLayout layout;
  at::Tensor x = {}, qkv = {};

  at::Tensor Group(size_t video, int64_t which) const {
    return layout.Group(qkv, video).chunk(3, -1)[static_cast<size_t>(which)];
  }
};

std::array<at::Tensor*, 4> TensorsOf(ToyInputs& inputs) {
  return {&inputs.x.video, &inputs.x.audio, &inputs.time, &inputs.text};
}

}  // namespace

ToyNetwork::Stream ToyNetwork::Make(int64_t channels, at::Generator& generator) {
  return {Weight(kWidth, channels, generator), Weight(3 * kWidth, kWidth, generator),
          Weight(kWidth, kWidth, generator), Weight(channels, kWidth, generator)};
}

ToyNetwork::ToyNetwork() {
  at::Generator generator = at::detail::createCPUGenerator(20);
  video_ = Make(kVideoChannels, generator);
  audio_ = Make(kAudioChannels, generator);
}

// x + out(attention(norm(x), both streams)); tokens know the text and the time by what is added.
std::vector<Streams> ToyNetwork::Velocities(const Ops& ops,
                                            const std::vector<ToyInputs>& videos) const {
  const auto begun = [&](const Stream& stream, at::Tensor Streams::* which) {
    std::vector<TokenGroup> groups;
    std::vector<at::Tensor> parts, texts;
    for (const ToyInputs& video : videos) {
      const int64_t rows = video.text.size(0), tokens = (video.x.*which).size(1);
      groups.push_back({.tokens = tokens,
                        .rows = {rows},
                        .has_one_key = std::vector<bool>(static_cast<size_t>(rows), false)});
      parts.push_back(at::linear(video.x.*which, stream.in) + video.time.view({-1, 1, 1}));
      texts.push_back(video.text.unsqueeze(1).expand({rows, tokens, -1}));
    }
    StreamTokens all{TokenLayout(std::move(groups), TokenLayout::Order::kByVideo)};
    all.x = all.layout.SplitByText(TokenLayout::Join(parts)) + TokenLayout::Join(texts);
    all.qkv = at::linear(ops.RmsNorm(all.x, {}, kEps), stream.qkv);
    return all;
  };
  const StreamTokens video = begun(video_, &Streams::video), audio = begun(audio_, &Streams::audio);
  std::vector<Streams> made;
  for (size_t i = 0; i < videos.size(); ++i) {
    const auto both = [&](int64_t which) {
      return Heads(at::cat({video.Group(i, which), audio.Group(i, which)}, 1));
    };
    const at::Tensor heads = Attention(ops, both(0), both(1), both(2), {}, 0);
    const at::Tensor joined = heads.flatten(2);
    const auto answer = [&](const StreamTokens& of, const Stream& stream, int64_t first) {
      const at::Tensor own = joined.slice(1, first, first + of.layout.tokens(i));
      return at::linear(of.layout.Group(of.x, i) + at::linear(own, stream.out), stream.head);
    };
    made.push_back({answer(video, video_, 0), answer(audio, audio_, video.layout.tokens(i))});
  }
  return made;
}

ToyCall::Kind ToyCall::kind() const {
  Kind kind;
  for (const ToyInputs& video : videos) {
    kind.insert(kind.end(), {video.x.video.size(1), video.x.audio.size(1), video.text.size(0)});
  }
  return kind;
}

int64_t ToyCall::input_bytes() const {
  int64_t bytes = 0;
  for (ToyInputs video : videos) {
    for (const at::Tensor* tensor : TensorsOf(video)) {
      bytes += static_cast<int64_t>(tensor->nbytes());
    }
  }
  return bytes;
}

std::vector<at::Tensor> ToyCall::Compute(const Ops& ops) const {
  std::vector<at::Tensor> made;
  for (const Streams& streams : network.Velocities(ops, videos)) {
    made.insert(made.end(), {streams.video, streams.audio});
  }
  return made;
}

ToyCall::Copy::Copy(const ToyCall& call) : network_(call.network), videos_(call.videos) {
  for (ToyInputs& video : videos_) {
    for (at::Tensor* tensor : TensorsOf(video)) *tensor = tensor->clone();
  }
}

void ToyCall::Copy::Fill(const ToyCall& call) {
  for (size_t i = 0; i < videos_.size(); ++i) {
    ToyInputs given = call.videos[i];
    const auto from = TensorsOf(given), to = TensorsOf(videos_[i]);
    for (size_t t = 0; t < to.size(); ++t) to[t]->copy_(*from[t]);
  }
}

}  // namespace reel::model::toy
