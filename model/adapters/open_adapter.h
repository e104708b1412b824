// SPDX-License-Identifier: Apache-2.0
// Opens an adapter's file for one model, and checks all of it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/adapters/adapter_family.h"
#include "model/adapters/adapter_file.h"
#include "model/adapters/linear_table.h"

namespace reel::model {

struct OpenedAdapter {
  std::vector<AdaptedLayer> layers;  // keep the file open
  std::string sha256;
  int idle_layers = 0;  // whose `up` is zero
  bool wants_reference = false;
};

// `sha256`: that the file must have; empty: any. NOT_FOUND and FAILED_PRECONDITION name the file, a
// key and the rule; a file for another model is marked (adapter_fault.h).
absl::StatusOr<OpenedAdapter> OpenAdapter(const std::string& path, const std::string& sha256,
                                          AdapterFamily family, const LinearTable& table);

}  // namespace reel::model
