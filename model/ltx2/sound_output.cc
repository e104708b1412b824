// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/sound_output.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace reel::model::ltx2 {
namespace {

// Number of tokens that cover `frames` frames.
int64_t Tokens(int64_t frames) {
  constexpr int64_t kFrames = AudioVaeConfig::kCompression;
  return (frames + kFrames - 1) / kFrames;
}

}  // namespace

absl::StatusOr<SoundOutput> SoundOutput::Join(AudioVae vae, Vocoder vocoder) {
  const AudioVaeConfig& spectrum = vae.config();
  const VocoderConfig& wave = vocoder.config();
  const auto refused = [](const std::string& why) {
    return absl::FailedPreconditionError(
        absl::StrCat("the vocoder does not fit the audio autoencoder: ", why));
  };
  if (wave.generator.in_channels != spectrum.channels * spectrum.bins) {
    return refused(absl::StrCat("in_channels is ", wave.generator.in_channels,
                                ", a frame of the spectrum has ", spectrum.channels * spectrum.bins,
                                " values"));
  }
  if (wave.generator.out_channels != spectrum.channels) {
    return refused(absl::StrCat("out_channels is ", wave.generator.out_channels,
                                ", the spectrum has ", spectrum.channels));
  }
  // Else sound would run faster or slower than the pictures.
  if (wave.generator.SamplesPerFrame() * spectrum.sample_rate !=
      wave.generator_rate * spectrum.hop_length) {
    return refused(absl::StrCat("it makes ", wave.generator.SamplesPerFrame(), " samples at ",
                                wave.generator_rate, " Hz of a frame, which stands for ",
                                spectrum.hop_length, " at ", spectrum.sample_rate, " Hz"));
  }
  return SoundOutput(std::move(vae), std::move(vocoder));
}

SoundFormat SoundOutput::format() const {
  return {static_cast<int>(vocoder_.config().SampleRate()),
          static_cast<int>(vae_.config().channels)};
}

int64_t SoundOutput::SamplesOf(int64_t tokens) const {
  if (tokens == 0) return 0;
  return AudioVaeConfig::Frames(tokens) * vocoder_.config().SamplesPerFrame();
}

int64_t SoundOutput::ahead() const { return Tokens(vocoder_.reach()); }

absl::StatusOr<at::Tensor> SoundOutput::Samples(const at::Tensor& tokens) const {
  return Samples(tokens, 0, tokens.size(1));
}

absl::StatusOr<at::Tensor> SoundOutput::Samples(const at::Tensor& tokens, int64_t begin,
                                                int64_t end) const {
  if (begin == end) return at::empty({vae_.config().channels, 0}, at::kFloat);
  const int64_t before = vae_.reach() + Tokens(vocoder_.reach());
  int64_t from = std::max<int64_t>(begin - before, 0);
  from -= from % vocoder_.frames_of_hops();
  const int64_t to = std::min(end + ahead(), tokens.size(1));
  const at::Tensor wave = vocoder_(vae_.Decode(tokens.slice(1, from, to)));
  // The decoder makes one frame of its first token instead of four. If that token is not the
  // sound's first, this is the last of the four.
  const int64_t first = AudioVaeConfig::kCompression * from * vocoder_.config().SamplesPerFrame();
  const at::Tensor samples =
      wave.squeeze(0).slice(1, SamplesOf(begin) - first, SamplesOf(end) - first).cpu();
  // A sum is NaN or Inf as soon as one of its terms is.
  if (!at::isfinite(samples.sum()).item<bool>()) {
    return absl::DataLossError("the decoded sound contains NaN or Inf");
  }
  return samples;
}

}  // namespace reel::model::ltx2
