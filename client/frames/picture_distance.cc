// SPDX-License-Identifier: Apache-2.0
#include "client/frames/picture_distance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace reel::client {
namespace {

constexpr double kPeak = 255;
constexpr size_t kWindow = 11;
constexpr double kSigma = 1.5;

struct Plane {
  size_t width = 0, height = 0;
  std::vector<double> values;
};

std::vector<double> Gaussian(size_t length) {
  std::vector<double> weights(length);
  double sum = 0;
  for (size_t i = 0; i < length; ++i) {
    const double x = (static_cast<double>(i) - static_cast<double>(length - 1) / 2) / kSigma;
    sum += weights[i] = std::exp(-x * x / 2);
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

// Filters rows, then transposes: twice does both directions and restores the orientation.
Plane BlurredAndTurned(const Plane& in) {
  const std::vector<double> weights = Gaussian(std::min(kWindow, in.width));
  Plane out{in.height, in.width - weights.size() + 1, {}};
  out.values.resize(out.width * out.height);
  for (size_t y = 0; y < in.height; ++y) {
    const double* row = in.values.data() + y * in.width;
    for (size_t x = 0; x < out.height; ++x) {
      double sum = 0;
      for (size_t i = 0; i < weights.size(); ++i) sum += weights[i] * row[x + i];
      out.values[x * out.width + y] = sum;
    }
  }
  return out;
}

std::vector<double> Blurred(const Plane& in) {
  return BlurredAndTurned(BlurredAndTurned(in)).values;
}

Plane LumaOf(const model::RgbImage& image) {
  Plane luma{static_cast<size_t>(image.width), static_cast<size_t>(image.height), {}};
  luma.values.resize(luma.width * luma.height);
  for (size_t i = 0; i < luma.values.size(); ++i) {
    const uint8_t* rgb = image.pixels.data() + 3 * i;
    luma.values[i] = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
  }
  return luma;
}

Plane Product(const Plane& a, const Plane& b) {
  Plane product = a;
  for (size_t i = 0; i < product.values.size(); ++i) product.values[i] *= b.values[i];
  return product;
}

double Ssim(const Plane& a, const Plane& b) {
  constexpr double kC1 = 0.01 * kPeak * 0.01 * kPeak, kC2 = 0.03 * kPeak * 0.03 * kPeak;
  const std::vector<double> mean_a = Blurred(a), mean_b = Blurred(b), aa = Blurred(Product(a, a)),
                            bb = Blurred(Product(b, b)), ab = Blurred(Product(a, b));
  double sum = 0;
  for (size_t i = 0; i < mean_a.size(); ++i) {
    const double both = mean_a[i] * mean_b[i];
    const double squares = mean_a[i] * mean_a[i] + mean_b[i] * mean_b[i];
    sum += (2 * both + kC1) * (2 * (ab[i] - both) + kC2) /
           ((squares + kC1) * (aa[i] + bb[i] - squares + kC2));
  }
  return sum / static_cast<double>(mean_a.size());
}

}  // namespace

void PictureDistance::Add(const model::RgbImage& a, const model::RgbImage& b) {
  ++frames_;
  samples_ += static_cast<double>(a.pixels.size());
  if (a.pixels == b.pixels) {
    ssim_ += 1;
    return;
  }
  for (size_t i = 0; i < a.pixels.size(); ++i) {
    const double difference = a.pixels[i] - b.pixels[i];
    squares_ += difference * difference;
  }
  ssim_ += Ssim(LumaOf(a), LumaOf(b));
}

double PictureDistance::psnr_db() const {
  if (squares_ == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(kPeak * kPeak * samples_ / squares_);
}

}  // namespace reel::client
