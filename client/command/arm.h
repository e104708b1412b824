// SPDX-License-Identifier: Apache-2.0
// One side of a comparison: the kernels that it asks for, and those that it got. Pure.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "reel/v1/video.pb.h"

namespace reel::client {

struct Arm {
  std::string text;  // as typed
  std::string profile;
  std::map<std::string, std::string> variants;
};

// "fp8", "auto+rms_norm=sm80+linear=aten", "+rms_norm=sm80": a profile, then single variants over
// its choice. INVALID_ARGUMENT else.
absl::StatusOr<Arm> ParseArm(const std::string& text);

// Has `spec` ask for them.
void Select(const Arm& arm, v1::VideoSpec& spec);

// What ran, by operator: "sm90", or "sm90, sm80_general" where calls took several. Lossy ones say
// so.
std::map<std::string, std::string> VariantsThatRan(const v1::RunStats& stats);
// Whether any of them trades accuracy for speed.
bool RanLossy(const v1::RunStats& stats);

}  // namespace reel::client
