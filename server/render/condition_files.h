// SPDX-License-Identifier: Apache-2.0
// Reads the files of --image, --condition, --refine, --reference and --sound into a request.
#pragma once

#include "absl/status/status.h"
#include "model/resolve.h"
#include "server/render/render_options.h"

namespace reel::render {

// The limits of this program, which serves a single user.
model::RequestLimits RenderLimits();

// Reads them into the spec. INVALID_ARGUMENT names the file.
absl::Status ReadConditionFiles(RenderOptions& options);

}  // namespace reel::render
