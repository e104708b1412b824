// SPDX-License-Identifier: Apache-2.0
// A video's bill as a table with bars.
#pragma once

#include <string>
#include <string_view>

#include "reel/v1/video.pb.h"

namespace reel::client {

// "denoise" of RUN_PART_DENOISE.
std::string PartName(v1::RunPart part);

// Where the time went, then the operators with the largest share of it; empty for a server that
// does not tell.
std::string DescribeBill(const v1::RunStats& stats);

}  // namespace reel::client
