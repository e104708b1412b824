// SPDX-License-Identifier: Apache-2.0
// The devices of a group for tests: CPUs, or the GPUs that REEL_TEST_DEVICE names.
#pragma once

#include <optional>
#include <vector>

#include "tests/unit/model/bridge/device_under_test.h"

namespace reel::model::ltx2 {

// Beside the device under test, of a group of so many ranks; nothing where it is no such group.
inline std::optional<std::vector<int>> PeersOf(int ranks) {
  const auto others = static_cast<size_t>(ranks) - 1;
  if (OnCpus()) return std::vector<int>(others, -1);
  const std::vector<int>& peers = DeviceUnderTest()->peers;
  if (peers.size() != others) return std::nullopt;
  return peers;
}

}  // namespace reel::model::ltx2
