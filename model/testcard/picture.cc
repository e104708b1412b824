// SPDX-License-Identifier: Apache-2.0
#include "model/testcard/picture.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "model/testcard/canvas.h"

namespace reel::model {
namespace {

constexpr Rgb kWhite{255, 255, 255};
constexpr Rgb kBlack{0, 0, 0};
// The bars of every test card, at 75 %.
constexpr Rgb kBars[] = {{191, 191, 191}, {191, 191, 0}, {0, 191, 191}, {0, 191, 0},
                         {191, 0, 191},   {191, 0, 0},   {0, 0, 191}};
constexpr int kHandPeriod = 48;  // frames
constexpr int kDiscPeriod = 96;

// Eight bits of `look` from `shift` on, as 0..1.
double Share(uint32_t look, int shift) { return (look >> shift & 0xFF) / 255.0; }

double Turn(int frame, int period) { return 2 * std::numbers::pi * frame / period; }

// The layout of a picture of this size, above the code.
struct Scene {
  explicit Scene(int width, int bottom)
      : centre{width / 2.0, bottom / 2.0}, radius(0.4 * std::min(width, bottom)) {}
  Point centre;
  double radius;
};

// Colour bars above a grey staircase, inside the circle.
void DrawCircle(Canvas& canvas, const Scene& scene) {
  const double r = scene.radius;
  for (int y = static_cast<int>(scene.centre.y - r); y <= scene.centre.y + r; ++y) {
    for (int x = static_cast<int>(scene.centre.x - r); x <= scene.centre.x + r; ++x) {
      const double dx = x + 0.5 - scene.centre.x, dy = y + 0.5 - scene.centre.y;
      if (std::hypot(dx, dy) > r) continue;
      const double across = (dx + r) / (2 * r);
      const int bar = std::clamp(static_cast<int>(across * 7), 0, 6);
      const auto grey = static_cast<uint8_t>(bar * 42);
      canvas.Set(x, y, dy < r / 4 ? kBars[bar] : Rgb{grey, grey, grey});
    }
  }
  canvas.Ring(scene.centre, r, std::max(1.5, r / 40), kWhite);
}

void DrawCode(Canvas& canvas, const PictureCode& code, const CodeLayout& layout) {
  canvas.Fill({0, layout.top, canvas.width(), layout.rows * layout.block}, kBlack);
  const std::vector<bool> bits = EncodeCode(code, layout);
  for (int i = 0; i < static_cast<int>(bits.size()); ++i) {
    if (!bits[static_cast<size_t>(i)]) continue;
    canvas.Fill({i % layout.columns * layout.block, layout.top + i / layout.columns * layout.block,
                 layout.block, layout.block},
                kWhite);
  }
}

}  // namespace

TestPicture::TestPicture(std::string_view prompt, uint64_t seed, int width, int height)
    : TestPicture(PictureHash(prompt, seed, width, height), width, height) {}

TestPicture::TestPicture(uint32_t hash, int width, int height)
    : width_(width),
      height_(height),
      hash_(hash),
      look_(hash_ * 2654435761u),
      layout_(CodeLayoutOf(width, height)),
      still_(static_cast<size_t>(width) * static_cast<size_t>(height) * 3) {
  DrawStill();
}

void TestPicture::DrawStill() {
  Canvas canvas(still_, width_, height_);
  const double hue = Share(look_, 24);
  const Rgb above = FromHsv(hue, 0.75, 0.85);
  const Rgb below = FromHsv(std::fmod(hue + 0.1 + 0.25 * Share(look_, 16), 1.0), 0.85, 0.3);
  const int grid = std::max(8, std::min(width_, height_) / 8);
  for (int y = 0; y < layout_.top; ++y) {
    for (int x = 0; x < width_; ++x) {
      const double share = (0.8 * y) / layout_.top + (0.2 * x) / width_;
      const Rgb color = Mix(above, below, share);
      const bool line = (x + grid / 2) % grid == 0 || (y + grid / 2) % grid == 0;
      canvas.Set(x, y, line ? Mix(color, kWhite, 0.5) : color);
    }
  }
  DrawCircle(canvas, Scene(width_, layout_.top));
}

std::vector<uint8_t> TestPicture::Draw(int frame) const {
  std::vector<uint8_t> pixels = still_;
  Canvas canvas(pixels, width_, height_);
  const Scene scene(width_, layout_.top);
  const double r = scene.radius;

  const double phase = 2 * std::numbers::pi * Share(look_, 8);
  const Point disc{scene.centre.x + 0.42 * width_ * std::sin(Turn(frame, kDiscPeriod) + phase),
                   scene.centre.y + 0.35 * layout_.top * std::sin(2 * Turn(frame, kDiscPeriod))};
  canvas.Disc(disc, r / 4, FromHsv(std::fmod(Share(look_, 24) + 0.5, 1.0), 0.9, 1));
  canvas.Ring(disc, r / 4, std::max(1.0, r / 60), kWhite);

  const double turn = Turn(frame, kHandPeriod);
  const Point tip{scene.centre.x + 0.9 * r * std::sin(turn),
                  scene.centre.y - 0.9 * r * std::cos(turn)};
  canvas.Line(scene.centre, tip, std::max(1.0, r / 20), kWhite);
  canvas.Disc(scene.centre, std::max(1.0, r / 12), kWhite);

  const int dot = std::max(1, static_cast<int>(r / 30));
  canvas.Fill({dot, dot, 18 * dot, 7 * dot}, kBlack);
  canvas.Number(frame, {2.0 * dot, 2.0 * dot}, dot, kWhite);

  DrawCode(canvas, {hash_, frame}, layout_);
  return pixels;
}

std::vector<uint8_t> TestPicture::DrawNoisy(int frame, double share) const {
  std::vector<uint8_t> pixels = Draw(frame);
  uint32_t state = look_ | 1;
  for (uint8_t& value : pixels) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    value = static_cast<uint8_t>(std::lround(value * (1 - share) + (state >> 24) * share));
  }
  return pixels;
}

}  // namespace reel::model
