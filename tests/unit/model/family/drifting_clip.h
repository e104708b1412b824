// SPDX-License-Identifier: Apache-2.0
// A clip to refine, drawn by a formula, and how far what is made of it lies from it.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>

#include "model/bridge/aten.h"
#include "model/generation_spec.h"

namespace reel::model {

// Colours that drift, so that neighbours are alike as in a film.
inline std::shared_ptr<ConditionPixels> DriftingClip(int frames, int width, int height) {
  auto pixels = std::make_shared<ConditionPixels>();
  pixels->width = width;
  pixels->height = height;
  pixels->num_frames = frames;
  for (int f = 0; f < frames; ++f) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        for (const double turn : {0.0, 2.1, 4.2}) {
          const double value = std::sin(0.05 * x + 0.03 * y + 0.04 * f + turn);
          pixels->rgb.push_back(static_cast<uint8_t>(127.5 + 120 * value));
        }
      }
    }
  }
  return pixels;
}

inline double DecibelsOf(const at::Tensor& a, const at::Tensor& b) {
  const double span = (b.max() - b.min()).item<double>();
  return 20 * std::log10(span) - 10 * std::log10((a - b).square().mean().item<double>());
}

}  // namespace reel::model
