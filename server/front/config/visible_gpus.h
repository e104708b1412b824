// SPDX-License-Identifier: Apache-2.0
// Counts the GPUs that a process of this machine or container can use, without asking the
// driver.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace reel::front {

// A device that stands for all of them, a worker each.
inline constexpr char kAllGpus[] = "cuda:all";

// `devices` is /dev, with a file for each GPU that this container was given, or all. `chosen` is
// CUDA_VISIBLE_DEVICES, of which CUDA takes what comes before the first that it does not know:
// numbers count the GPUs there are, UUIDs are believed.
int VisibleGpus(const std::string& devices, std::optional<absl::string_view> chosen);

}  // namespace reel::front
