// SPDX-License-Identifier: Apache-2.0
// Draws the moving test picture, a classic test card in colours chosen by the prompt and the seed.
// It has a hand that turns once in two seconds of 24 frames, a moving disc, the frame's number, and
// the code of picture_code.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/testcard/picture_code.h"

namespace reel::model {

class TestPicture {
 public:
  TestPicture(std::string_view prompt, uint64_t seed, int width, int height);
  // By its PictureHash.
  TestPicture(uint32_t hash, int width, int height);

  // One frame, [height, width, 3].
  std::vector<uint8_t> Draw(int frame) const;
  // The same with noise over it: `share` 1 is only noise, as before the first step.
  std::vector<uint8_t> DrawNoisy(int frame, double share) const;

 private:
  void DrawStill();

  int width_;
  int height_;
  uint32_t hash_;
  uint32_t look_;  // seed of the colours and the disc's path
  CodeLayout layout_;
  std::vector<uint8_t> still_;  // the static part of all frames
};

}  // namespace reel::model
