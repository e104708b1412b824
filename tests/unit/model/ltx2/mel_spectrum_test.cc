// SPDX-License-Identifier: Apache-2.0
// Spectra of waves, against those that transformers makes.
#include "model/ltx2/mel_spectrum.h"

#include <cstdio>
#include <string>

#include "gtest/gtest.h"
#include "tests/unit/model/ltx/tiny_folder.h"
#include "tests/unit/model/ltx2/sound_fixture.h"

namespace reel::model::ltx2 {
namespace {

using ltx::Draw;
using ltx::Golden;

AudioVaeConfig WithBins(int64_t bins) {
  AudioVaeConfig config;
  config.bins = bins;
  return config;
}

TEST(MelSpectrum, IsThatOfTransformers) {
  const Golden golden = Golden::In("ltx2_sound");
  const at::Tensor wave = 0.1 * Draw(57, {2, 4000});
  for (const int64_t bins : {16, 64}) {
    const at::Tensor spectrum = MelSpectrumOf(wave, WithBins(bins));
    const double error = RelativeError(spectrum, golden["mel." + std::to_string(bins)]);
    std::printf("spectrum of %d bins: error %.2e\n", static_cast<int>(bins), error);
    EXPECT_LT(error, 1e-5) << bins;
  }
}

TEST(MelSpectrum, HasAFrameAtEachHopOfSoundsOfAnyLength) {
  for (const int64_t samples : {1, 159, 160, 512, 513, 16'000}) {
    const at::Tensor spectrum = MelSpectrumOf(Draw(3, {2, samples}), WithBins(64));
    EXPECT_GE(spectrum.size(2), samples / 160 + 1) << samples;
    EXPECT_TRUE(spectrum.isfinite().all().item<bool>()) << samples;
  }
  const at::Tensor silence = MelSpectrumOf(at::zeros({2, 1600}), WithBins(64));
  EXPECT_FLOAT_EQ(silence.max().item<float>(), -11.512925F) << "the logarithm of 1e-5";
}

TEST(MelSpectrum, ShowsAToneInItsBin) {
  const at::Tensor seconds = at::arange(16'000, at::TensorOptions(at::kFloat)) / 16'000;
  int64_t before = -1;
  for (const double hertz : {100.0, 440.0, 1000.0, 4000.0, 7000.0}) {
    const at::Tensor tone = at::sin(seconds * (2 * 3.14159265358979 * hertz)).expand({2, -1});
    const at::Tensor spectrum = MelSpectrumOf(tone.contiguous(), WithBins(64));
    const auto bin = spectrum[0][0][50].argmax().item<int64_t>();
    EXPECT_GT(bin, before) << hertz;
    before = bin;
  }
  EXPECT_GT(before, 55);
}

}  // namespace
}  // namespace reel::model::ltx2
