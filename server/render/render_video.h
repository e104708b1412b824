// SPDX-License-Identifier: Apache-2.0
// Renders one video through the worker's own engine and encoder, into an .mp4 file.
#pragma once

#include "kernels/dispatch/kernel_catalog.h"
#include "server/render/console.h"
#include "server/render/render_options.h"

namespace reel::render {

// Returns the program's exit code; errors have been printed.
int RenderVideo(const RenderOptions& options, const kernels::KernelCatalog& catalog,
                Console& console);

}  // namespace reel::render
