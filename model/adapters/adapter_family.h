// SPDX-License-Identifier: Apache-2.0
// The models that an adapter can be for, told by its layers and by its file's metadata.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "model/adapters/adapter_pairs.h"
#include "model/weights/weight_file.h"

namespace reel::model {

// "; it seems to be for LTX-2 22B", for messages; empty where the layers do not tell.
std::string FamilyHint(const std::vector<AdapterPair>& pairs);

// The model that an adapter is to be part of.
enum class AdapterFamily { kLtxVideo, kLtx2 };

// FAILED_PRECONDITION: the file's metadata names another family. Files that name none pass.
absl::Status CheckFamily(const WeightFile& file, AdapterFamily family);

}  // namespace reel::model
