// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/loudness.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace reel::worker {
namespace {

constexpr double kAbsoluteGate = -70;  // LUFS: quieter blocks do not count
constexpr double kRelativeGate = -10;  // LU below the mean of what is left
constexpr double kOffset = -0.691;     // dB, so that 1 kHz at full scale in one channel is -3.01
constexpr int kBlockParts = 4;         // a block of 400 ms moves on by a quarter of itself
constexpr double kPartSeconds = 0.1;
constexpr double kMostPeak = -1;  // dBTP
constexpr double kSilentSeconds = 0.01;
constexpr float kSilent = 0.001F;  // -60 dBFS

// A filter of the second order, in double precision, since a pole lies near 1.
struct Biquad {
  double b0 = 1, b1 = 0, b2 = 0, a1 = 0, a2 = 0;
  double z1 = 0, z2 = 0;

  double Next(double x) {
    const double y = b0 * x + z1;
    z1 = b1 * x - a1 * y + z2;
    z2 = b2 * x - a2 * y;
    return y;
  }
};

// The standard gives both for 48 kHz; these are the analogue filters behind them, so that other
// rates sound the same.
Biquad HeadFilter(double rate) {
  const double k = std::tan(std::numbers::pi * 1681.974450955533 / rate), q = 0.7071752369554196;
  const double high = std::pow(10.0, 3.999843853973347 / 20);
  const double middle = std::pow(high, 0.4996667741545416);
  const double a0 = 1 + k / q + k * k;
  return {.b0 = (high + middle * k / q + k * k) / a0,
          .b1 = 2 * (k * k - high) / a0,
          .b2 = (high - middle * k / q + k * k) / a0,
          .a1 = 2 * (k * k - 1) / a0,
          .a2 = (1 - k / q + k * k) / a0};
}

Biquad LowCut(double rate) {
  const double k = std::tan(std::numbers::pi * 38.13547087602444 / rate), q = 0.5003270373238773;
  const double a0 = 1 + k / q + k * k;
  return {.b0 = 1, .b1 = -2, .b2 = 1, .a1 = 2 * (k * k - 1) / a0, .a2 = (1 - k / q + k * k) / a0};
}

double Decibels(double power) { return 10 * std::log10(power); }

// Weighted energy of each whole tenth of a second, all channels together.
std::vector<double> Energies(const model::SoundFormat& format, absl::Span<const float> samples) {
  const auto channels = static_cast<size_t>(format.channels);
  const auto part = static_cast<size_t>(std::lround(kPartSeconds * format.sample_rate));
  std::vector<double> energies(samples.size() / channels / part, 0.0);
  for (size_t channel = 0; channel < channels; ++channel) {
    Biquad head = HeadFilter(format.sample_rate), low = LowCut(format.sample_rate);
    for (size_t i = 0; i < energies.size() * part; ++i) {
      const double y = low.Next(head.Next(samples[i * channels + channel]));
      energies[i / part] += y * y / static_cast<double>(part);
    }
  }
  return energies;
}

double MeanAbove(const std::vector<double>& blocks, double gate) {
  double sum = 0;
  size_t count = 0;
  for (const double power : blocks) {
    if (kOffset + Decibels(power) <= gate) continue;
    sum += power;
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

std::optional<double> Loudness(const std::vector<double>& energies) {
  std::vector<double> blocks;
  for (size_t i = 0; i + kBlockParts <= energies.size(); ++i) {
    double sum = 0;
    for (size_t part = 0; part < kBlockParts; ++part) sum += energies[i + part];
    blocks.push_back(sum / kBlockParts);
  }
  const double loud = MeanAbove(blocks, kAbsoluteGate);
  if (loud == 0) return std::nullopt;
  const double gate = std::max(kAbsoluteGate, kOffset + Decibels(loud) + kRelativeGate);
  return kOffset + Decibels(MeanAbove(blocks, gate));
}

// Four samples for one, by a windowed sinc for each of the three between two.
constexpr int kPhases = 4;
constexpr int kTaps = 32;
using Kernel = std::array<float, kTaps>;

Kernel KernelAt(int phase) {
  Kernel kernel;
  double sum = 0;
  for (int tap = 0; tap < kTaps; ++tap) {
    const double x = tap - (kTaps / 2 - 1) - static_cast<double>(phase) / kPhases;
    const double sinc = x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
    const double window = 0.5 + 0.5 * std::cos(std::numbers::pi * x / (kTaps / 2));
    kernel[static_cast<size_t>(tap)] = static_cast<float>(sinc * window);
    sum += sinc * window;
  }
  for (float& value : kernel) value = static_cast<float>(value / sum);
  return kernel;
}

using Kernels = std::array<Kernel, kPhases - 1>;

float Largest(absl::Span<const float> samples) {
  float largest = 0;
  for (const float sample : samples) largest = std::max(largest, std::abs(sample));
  return largest;
}

// The most that a kernel can make of samples up to 1.
float MostOf(const Kernels& kernels) {
  float most = 0;
  for (const Kernel& kernel : kernels) {
    float sum = 0;
    for (const float value : kernel) sum += std::abs(value);
    most = std::max(most, sum);
  }
  return most;
}

// Of the values between the samples that begin at each place before `count`.
float LargestBetween(const float* line, size_t count, const Kernels& kernels) {
  float largest = 0;
  for (size_t at = 0; at < count; ++at) {
    for (const Kernel& kernel : kernels) {
      float sum = 0;
      for (size_t tap = 0; tap < kTaps; ++tap) sum += line[at + tap] * kernel[tap];
      largest = std::max(largest, std::abs(sum));
    }
  }
  return largest;
}

float TruePeak(const model::SoundFormat& format, absl::Span<const float> samples) {
  const auto channels = static_cast<size_t>(format.channels);
  const Kernels kernels = {KernelAt(1), KernelAt(2), KernelAt(3)};
  const float most = MostOf(kernels);
  float peak = Largest(samples);
  for (size_t channel = 0; channel < channels; ++channel) {
    // Silence around it, as a player has.
    const size_t length = samples.size() / channels;
    std::vector<float> line((length / kTaps + 3) * kTaps, 0.0F);
    for (size_t i = 0; i < length; ++i) line[kTaps + i] = samples[i * channels + channel];
    for (size_t at = 0; at + 2 * kTaps <= line.size(); at += kTaps) {
      const absl::Span<const float> window = absl::MakeConstSpan(line).subspan(at, 2 * kTaps);
      if (Largest(window) * most <= peak) continue;  // too quiet for a peak
      peak = std::max(peak, LargestBetween(window.data(), kTaps, kernels));
    }
  }
  return peak;
}

double SilentShare(const model::SoundFormat& format, absl::Span<const float> samples) {
  const auto piece = static_cast<size_t>(format.channels) *
                     static_cast<size_t>(std::lround(kSilentSeconds * format.sample_rate));
  size_t silent = 0, count = 0;
  for (size_t at = 0; at < samples.size(); at += piece, ++count) {
    const auto span = samples.subspan(at, piece);
    silent += std::ranges::all_of(span, [](float x) { return std::abs(x) < kSilent; }) ? 1 : 0;
  }
  return count == 0 ? 1 : static_cast<double>(silent) / static_cast<double>(count);
}

}  // namespace

model::SoundStats MeasureSound(const model::SoundFormat& format,
                               absl::Span<const float> interleaved) {
  model::SoundStats stats;
  stats.loudness_lufs = Loudness(Energies(format, interleaved));
  const float peak = TruePeak(format, interleaved);
  if (peak > 0) stats.true_peak_dbtp = 2 * Decibels(peak);
  stats.silent_share = SilentShare(format, interleaved);
  stats.clipped_samples =
      std::ranges::count_if(interleaved, [](float sample) { return std::abs(sample) >= 1.0F; });
  return stats;
}

LevelChange ChangeTo(double lufs, const model::SoundStats& measured) {
  if (!measured.loudness_lufs || !measured.true_peak_dbtp) return {};
  const double wanted = lufs - *measured.loudness_lufs;
  const double most = kMostPeak - *measured.true_peak_dbtp;
  return {.gain = static_cast<float>(std::pow(10.0, std::min(wanted, most) / 20)),
          .is_limited = most < wanted};
}

}  // namespace reel::worker
