// SPDX-License-Identifier: Apache-2.0
// Renders one video straight through a pipeline into a .safetensors file (exact_file.h): its frames
// and its sound. If the model has them, `latents` [1, C, F, h, w] and `audio_latents` [1, C, A,
// bins] come first.
#pragma once

#include "kernels/dispatch/kernel_catalog.h"
#include "server/render/console.h"
#include "server/render/render_options.h"

namespace reel::render {

// Returns the program's exit code; errors have been printed.
int RenderExact(const RenderOptions& options, const kernels::KernelCatalog& catalog,
                Console& console);

}  // namespace reel::render
