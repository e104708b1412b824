// SPDX-License-Identifier: Apache-2.0
// Checks weights without a server: reel-render, the program beside this one, reads them as a
// server's load would.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/command/exit_code.h"

namespace reel::client {

// One result of `reel doctor`.
struct Check {
  std::string name;
  bool ok = true;
  std::string detail;
  std::vector<std::string> lines = {};     // below the detail
  std::string hint;                        // advice; empty if ok
  ExitCode code = ExitCode::kUnavailable;  // if there is a problem
};

// The files to check; all but the path may be empty.
struct WeightsFlags {
  std::string path;  // a folder or file, or a name that reel-render knows
  std::string dtype, text_folder, manifest;
  std::string device_memory;  // "24GB"; set: plan the weights for such a device
  std::string weights_form;   // "e4m3"
  std::string text_form;      // the same
  std::string decoder;        // "diffusion"
  std::optional<uint64_t> random_weights;
  std::vector<std::string> parts;     // "PART=FILE"
  std::vector<std::string> adapters;  // "FILE[:SCALE]"
};

// `folder`: this program's folder. Of the files; and with a device's memory, whether they fit it.
std::vector<Check> CheckWeights(const std::string& folder, const WeightsFlags& flags);

}  // namespace reel::client
