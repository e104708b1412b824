// SPDX-License-Identifier: Apache-2.0
#include "model/testcard/canvas.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

namespace reel::model {
namespace {

// 3 by 5 dots, a row in three bits, from the top.
constexpr uint8_t kDigits[10][5] = {
    {7, 5, 5, 5, 7}, {2, 6, 2, 2, 7}, {7, 1, 7, 4, 7}, {7, 1, 7, 1, 7}, {5, 5, 7, 1, 1},
    {7, 4, 7, 1, 7}, {7, 4, 7, 5, 7}, {7, 1, 2, 2, 2}, {7, 5, 7, 5, 7}, {7, 5, 7, 1, 7}};
constexpr int kDigitPitch = 4;

uint8_t Channel(double value) {
  return static_cast<uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
}

int Floor(double value) { return static_cast<int>(std::floor(value)); }

}  // namespace

Rgb FromHsv(double hue, double saturation, double value) {
  const auto channel = [&](double offset) {
    const double k = std::fmod(offset + hue * 6, 6.0);
    return Channel(value - value * saturation * std::clamp(std::min(k, 4 - k), 0.0, 1.0));
  };
  return {channel(5), channel(3), channel(1)};
}

Rgb Mix(Rgb a, Rgb b, double share) {
  Rgb out{};
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<uint8_t>(std::lround(a[i] + (b[i] - a[i]) * share));
  }
  return out;
}

void Canvas::Set(int x, int y, Rgb color) {
  if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
  const size_t at =
      (static_cast<size_t>(y) * static_cast<size_t>(width_) + static_cast<size_t>(x)) * 3;
  std::copy(color.begin(), color.end(), pixels_.begin() + static_cast<std::ptrdiff_t>(at));
}

void Canvas::Fill(const Box& box, Rgb color) {
  for (int y = std::max(box.top, 0); y < std::min(box.top + box.height, height_); ++y) {
    for (int x = std::max(box.left, 0); x < std::min(box.left + box.width, width_); ++x) {
      Set(x, y, color);
    }
  }
}

void Canvas::Disc(Point centre, double radius, Rgb color) {
  Ring(centre, radius / 2, radius, color);
}

void Canvas::Ring(Point centre, double radius, double thickness, Rgb color) {
  const double outer = radius + thickness / 2, inner = radius - thickness / 2;
  for (int y = Floor(centre.y - outer); y <= Floor(centre.y + outer); ++y) {
    for (int x = Floor(centre.x - outer); x <= Floor(centre.x + outer); ++x) {
      const double distance = std::hypot(x + 0.5 - centre.x, y + 0.5 - centre.y);
      if (distance <= outer && distance >= inner) Set(x, y, color);
    }
  }
}

void Canvas::Line(Point from, Point to, double thickness, Rgb color) {
  const int steps = std::max(1, Floor(2 * std::hypot(to.x - from.x, to.y - from.y)));
  for (int i = 0; i <= steps; ++i) {
    const double share = static_cast<double>(i) / steps;
    Disc({from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share}, thickness / 2,
         color);
  }
}

int Canvas::Number(int value, Point top_left, int scale, Rgb color) {
  const std::string text = std::to_string(value);
  int left = Floor(top_left.x);
  for (const char digit : text) {
    for (int row = 0; row < 5; ++row) {
      for (int column = 0; column < 3; ++column) {
        if ((kDigits[digit - '0'][row] >> (2 - column) & 1) == 0) continue;
        Fill({left + column * scale, Floor(top_left.y) + row * scale, scale, scale}, color);
      }
    }
    left += kDigitPitch * scale;
  }
  return static_cast<int>(text.size()) * kDigitPitch * scale;
}

}  // namespace reel::model
