// SPDX-License-Identifier: Apache-2.0
// A video's bill as a table with bars.
#pragma once

#include <string>
#include <string_view>

#include "reel/v1/video.pb.h"

namespace reel::client {

// "denoise" for RUN_PART_DENOISE.
std::string PartName(v1::RunPart part);

// Parts of the time, then the operators with the largest shares; empty if the server does not
// report them.
std::string DescribeBill(const v1::RunStats& stats);

}  // namespace reel::client
