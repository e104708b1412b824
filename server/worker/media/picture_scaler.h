// SPDX-License-Identifier: Apache-2.0
// Scales pictures as Pillow's Lanczos filter does. The reference scales conditions with it, and an
// encoded picture differs visibly between filters.
#pragma once

#include "model/frame_sink.h"

namespace reel::worker {

// `image` as `width` x `height`; the aspect is not kept. Equal to Pillow 13's
// `Image.resize((width, height), LANCZOS)` of an RGB image, byte for byte. All sides at least 1.
model::RgbImage ScaleLanczos(const model::RgbImage& image, int width, int height);

}  // namespace reel::worker
