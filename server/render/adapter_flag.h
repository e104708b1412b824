// SPDX-License-Identifier: Apache-2.0
// The flag --adapter of reel-render: a file with its scales.
#pragma once

#include <string>
#include <vector>

#include "model/fixed_adapter.h"
#include "model/request_adapter.h"

namespace reel::render {

// Named as its file.
model::FixedAdapter AdapterOfFlag(const std::string& word);

// Empty, or why the flag cannot have this value.
std::string AdapterProblem(const std::string& word);

std::vector<model::FixedAdapter> AdaptersOfFlags(const std::vector<std::string>& words);

// The same beside the weights, with --adapter-ranks: with scales of parts and of passes.
std::vector<model::RequestAdapter> RequestAdaptersOf(const std::vector<std::string>& words);

// Whether any of them has scales of parts or passes, which an adapter merged into the weights
// cannot have.
bool HaveFurtherScales(const std::vector<model::RequestAdapter>& adapters);

// Sets what their files say of reference clips. Errors of a file are reported when it is loaded.
void ReadReferenceScales(std::vector<model::RequestAdapter>& adapters);

}  // namespace reel::render
