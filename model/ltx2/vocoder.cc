// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/vocoder.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv1d.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/base/status_macros.h"

namespace reel::model::ltx2 {
namespace {

constexpr double kLeastEnergy = 1e-5;

}  // namespace

BandwidthExtension::BandwidthExtension(Weights& weights, const ExtensionConfig& config)
    : config_(config),
      generator_(weights, "bwe_generator.", config.generator),
      resample_(config.ratio, weights.device()) {
  const int64_t lines = config.filter_length / 2 + 1;
  waves_ = weights.Take("mel_stft.stft_fn.forward_basis", {2 * lines, 1, config.filter_length});
  weights.Skip("mel_stft.stft_fn.inverse_basis");
  bins_ = weights.Take("mel_stft.mel_basis", {config.num_bins, lines});
}

at::Tensor BandwidthExtension::SpectrumOf(const at::Tensor& wave, int64_t piece) const {
  const int64_t hop = config_.hop_length, filter = config_.filter_length;
  const int64_t hops = wave.size(2) / hop;
  const at::Tensor padded = at::constant_pad_nd(wave.transpose(0, 1), {filter - hop, 0});
  std::vector<at::Tensor> spectra;
  for (int64_t begin = 0; begin < hops; begin += piece) {
    const int64_t end = std::min(begin + piece, hops);
    const at::Tensor part = padded.slice(2, begin * hop, (end - 1) * hop + filter);
    const std::vector<at::Tensor> lines = at::conv1d(part, waves_, {}, hop).chunk(2, 1);
    const at::Tensor magnitude = (lines[0].pow(2) + lines[1].pow(2)).sqrt();
    spectra.push_back(bins_.matmul(magnitude).clamp_min(kLeastEnergy).log());
  }
  return at::cat(spectra, 2).flatten(0, 1).unsqueeze(0);
}

at::Tensor BandwidthExtension::operator()(const at::Tensor& wave, int64_t piece) const {
  const int64_t hop = config_.hop_length, samples = wave.size(2);
  const at::Tensor whole_hops = at::constant_pad_nd(wave, {0, (hop - samples % hop) % hop});
  const at::Tensor high = generator_(SpectrumOf(whole_hops, piece), piece);
  const at::Tensor sum = high + resample_(whole_hops, piece * hop);
  return sum.clamp(-1, 1).slice(2, 0, samples * config_.ratio);
}

int64_t BandwidthExtension::reach() const {
  return generator_.reach() * config_.hop_length + config_.filter_length + SincResampler::kReach;
}

Vocoder::Vocoder(Weights& weights, const VocoderConfig& config)
    : config_(config),
      generator_(weights, config.extension.has_value() ? "vocoder." : "", config.generator) {
  if (config.extension.has_value()) extension_.emplace(weights, *config.extension);
  bytes_ = weights.bytes();
  parameters_ = weights.parameters();
}

absl::StatusOr<Vocoder> Vocoder::Load(const WeightSet& stored, const VocoderConfig& config,
                                      at::Device device) {
  Weights weights(stored, at::kFloat, device);
  Vocoder vocoder(weights, config);
  REEL_RETURN_IF_ERROR(weights.Finish());
  return vocoder;
}

int64_t Vocoder::reach() const {
  if (!extension_.has_value()) return generator_.reach();
  const int64_t samples = config_.generator.SamplesPerFrame();
  return generator_.reach() + (extension_->reach() + samples - 1) / samples;
}

int64_t Vocoder::frames_of_hops() const {
  if (!extension_.has_value()) return 1;
  const int64_t hop = config_.extension->hop_length;
  return hop / std::gcd(hop, config_.generator.SamplesPerFrame());
}

at::Tensor Vocoder::operator()(const at::Tensor& spectrum, int64_t piece) const {
  const at::Tensor bins_first = spectrum.to(at::kFloat).transpose(2, 3).flatten(1, 2);
  const at::Tensor wave = generator_(bins_first, piece);
  return extension_.has_value() ? (*extension_)(wave, piece) : wave;
}

}  // namespace reel::model::ltx2
