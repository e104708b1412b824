// SPDX-License-Identifier: Apache-2.0
// The smallest video that is worth rendering, for tests of reel-render's parts.
#pragma once

#include <string>

#include "server/render/render_options.h"

namespace reel::render {

inline RenderOptions SmallRender(const std::string& output) {
  RenderOptions options;
  options.output = output;
  options.spec.prompt = "a fox";
  options.spec.width = options.spec.height = 32;
  options.spec.num_frames = 9;
  options.spec.num_inference_steps = 1;
  return options;
}

}  // namespace reel::render
