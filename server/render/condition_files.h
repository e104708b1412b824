// SPDX-License-Identifier: Apache-2.0
// Reads the files of --image, --condition, --refine, --reference and --sound into a request, and
// adds the flags of a reference clip.
#pragma once

#include "absl/status/status.h"
#include "model/resolve.h"
#include "server/render/render_options.h"
#include <CLI/App.hpp>

namespace reel::render {

// The limits of this program, which serves a single user.
model::RequestLimits RenderLimits();

// --reference and --reference-attention. `app` keeps references to the options.
void AddReferenceFlags(CLI::App& app, RenderOptions& options);

// Reads them into the spec. INVALID_ARGUMENT names the file.
absl::Status ReadConditionFiles(RenderOptions& options);

}  // namespace reel::render
