// SPDX-License-Identifier: Apache-2.0
// The flag --adapter FILE[:SCALE].
#pragma once

#include <string>
#include <vector>

#include "model/fixed_adapter.h"
#include "model/request_adapter.h"

namespace reel::render {

// Named as its file. What stands behind the last colon is the scale if it is a number.
model::FixedAdapter AdapterOfFlag(const std::string& word);

// Empty, or why the flag cannot have this value.
std::string AdapterProblem(const std::string& word);

std::vector<model::FixedAdapter> AdaptersOfFlags(const std::vector<std::string>& words);

// The same beside the weights, with --adapter-ranks.
std::vector<model::RequestAdapter> RequestAdaptersOf(
    const std::vector<model::FixedAdapter>& adapters);

// Sets what their files say of reference clips. What is wrong with a file the load tells.
void ReadReferenceScales(std::vector<model::RequestAdapter>& adapters);

}  // namespace reel::render
