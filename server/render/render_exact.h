// SPDX-License-Identifier: Apache-2.0
// Renders one video straight through a pipeline, into a .safetensors file: `frames` [T, H, W, 3] as
// 32-bit floats 0..1, then `latents` [1, C, F, h, w] if the model has them.
#pragma once

#include "kernels/dispatch/kernel_catalog.h"
#include "server/render/console.h"
#include "server/render/render_options.h"

namespace reel::render {

// Returns the program's exit code; errors have been printed.
int RenderExact(const RenderOptions& options, const kernels::KernelCatalog& catalog,
                Console& console);

}  // namespace reel::render
