// SPDX-License-Identifier: Apache-2.0
// The flags of videos that go on from others, and of the states that they leave.
#pragma once

#include <string>
#include <vector>

#include "server/render/render_options.h"
#include <CLI/App.hpp>

namespace reel::render {

// `app` keeps references to the options.
void AddSourceFlags(CLI::App& app, RenderOptions& options);

// Whether this word of the command line names a video to go on from, which has a prompt of its own.
bool NamesASource(const std::string& word);

// Empty if the flags go together. `of_the_video`: those that say what to render.
std::string WhyNotBesideSource(const RenderOptions& options,
                               const std::vector<const CLI::Option*>& of_the_video);

}  // namespace reel::render
