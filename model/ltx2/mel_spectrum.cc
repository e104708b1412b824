// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/mel_spectrum.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/hann_window.h>
#include <ATen/ops/stft.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace reel::model::ltx2 {
namespace {

constexpr int64_t kWindow = 1024;  // samples: of all releases
constexpr double kLeastMagnitude = 1e-5;

// Slaney's scale: even up to 1 kHz, logarithmic above.
constexpr double kEvenHertz = 200.0 / 3, kBreakHertz = 1000, kBreakMel = kBreakHertz / kEvenHertz;
double LogStep() { return std::log(6.4) / 27; }

double MelOf(double hertz) {
  if (hertz < kBreakHertz) return hertz / kEvenHertz;
  return kBreakMel + std::log(hertz / kBreakHertz) / LogStep();
}

double HertzOf(double mel) {
  if (mel < kBreakMel) return mel * kEvenHertz;
  return kBreakHertz * std::exp(LogStep() * (mel - kBreakMel));
}

// [frequencies, bins]: triangles between the bins' neighbours, each of the same area.
at::Tensor Triangles(const AudioVaeConfig& config) {
  const int64_t frequencies = kWindow / 2 + 1;
  const double highest = static_cast<double>(config.sample_rate) / 2;
  const double step = MelOf(highest) / static_cast<double>(config.bins + 1);
  at::Tensor filters = at::zeros({frequencies, config.bins}, at::kFloat);
  auto weights = filters.accessor<float, 2>();
  for (int64_t bin = 0; bin < config.bins; ++bin) {
    const double low = HertzOf(step * static_cast<double>(bin));
    const double middle = HertzOf(step * static_cast<double>(bin + 1));
    const double high = HertzOf(step * static_cast<double>(bin + 2));
    for (int64_t i = 0; i < frequencies; ++i) {
      const double hertz = highest * static_cast<double>(i) / static_cast<double>(frequencies - 1);
      const double rise = (hertz - low) / (middle - low), fall = (high - hertz) / (high - middle);
      const double weight = std::max(0.0, std::min(rise, fall)) * 2 / (high - low);
      weights[i][bin] = static_cast<float>(weight);
    }
  }
  return filters;
}

}  // namespace

at::Tensor MelSpectrumOf(const at::Tensor& wave, const AudioVaeConfig& config) {
  // A mirror needs more samples than it repeats.
  const int64_t missing = std::max<int64_t>(kWindow / 2 + 1 - wave.size(1), 0);
  const at::Tensor whole = at::constant_pad_nd(wave, {0, missing});
  const at::Tensor window = at::hann_window(kWindow, at::TensorOptions(at::kFloat));
  const at::Tensor waves =
      at::stft(whole, kWindow, config.hop_length, kWindow, window, /*center=*/true, "reflect",
               /*normalized=*/false, /*onesided=*/true, /*return_complex=*/true);
  const at::Tensor bins = waves.abs().transpose(1, 2).matmul(Triangles(config));
  return bins.clamp_min(kLeastMagnitude).log().unsqueeze(0);
}

}  // namespace reel::model::ltx2
