// SPDX-License-Identifier: Apache-2.0
// Draws simple shapes into an RGB picture, clipped at its edges.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace reel::model {

using Rgb = std::array<uint8_t, 3>;

// `hue`, `saturation` and `value` 0..1.
Rgb FromHsv(double hue, double saturation, double value);
// share 0 is `a`, 1 is `b`.
Rgb Mix(Rgb a, Rgb b, double share);

struct Point {
  double x = 0, y = 0;
};
struct Box {
  int left = 0, top = 0, width = 0, height = 0;
};

class Canvas {
 public:
  // `pixels` is [height, width, 3] and outlives the canvas.
  Canvas(std::vector<uint8_t>& pixels, int width, int height)
      : pixels_(pixels), width_(width), height_(height) {}

  int width() const { return width_; }
  int height() const { return height_; }

  void Set(int x, int y, Rgb color);
  void Fill(const Box& box, Rgb color);
  void Disc(Point centre, double radius, Rgb color);
  void Ring(Point centre, double radius, double thickness, Rgb color);
  void Line(Point from, Point to, double thickness, Rgb color);
  // Draws decimal digits of 3 by 5 dots, `scale` pixels a dot; returns their width.
  int Number(int value, Point top_left, int scale, Rgb color);

 private:
  std::vector<uint8_t>& pixels_;
  int width_;
  int height_;
};

}  // namespace reel::model
