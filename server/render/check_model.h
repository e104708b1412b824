// SPDX-License-Identifier: Apache-2.0
// `reel-render --check`: checks whether a model can be loaded, without loading it. `reel doctor
// --model` runs it.
#pragma once

#include <string>

#include "kernels/dispatch/execution.h"
#include "model/registry.h"
#include "server/render/render_options.h"

namespace reel::render {

// The result of a model's check: a sentence for people, or one line of JSON with `model` and `ok`.
// Behind that are `family`, `parameters`, `weightBytes`, `dtype` and with a plan `fit`, or
// `problem` and `advice`.
std::string CheckText(const model::ModelCheck& check, const RenderOptions& options);
std::string CheckJson(const model::ModelCheck& check, const RenderOptions& options);

// Prints it; returns the program's exit code.
int CheckAndPrint(const RenderOptions& options, kernels::DeviceStream stream);

}  // namespace reel::render
