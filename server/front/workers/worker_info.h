// SPDX-License-Identifier: Apache-2.0
// One device as the front knows it: its state, its memory, what its worker can run. A value.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/dispatch/kernel_listing.h"
#include "model/device_memory.h"

namespace reel::front {

enum class WorkerState { kStarting, kReady, kDraining, kLost, kOut };

// Why a worker is out of service (WorkerState::kOut).
enum class OutReason {
  kNone,     // it is not
  kDevice,   // its device is gone, needs a reset or cannot be opened
  kFaults,   // too many losses of its own making in a short time
  kNoModel,  // none of its models could be loaded
};

// The name of the metrics and the log.
inline const char* OutReasonName(OutReason reason) {
  switch (reason) {
    case OutReason::kDevice:
      return "device";
    case OutReason::kFaults:
      return "faults";
    case OutReason::kNoModel:
      return "no_model";
    case OutReason::kNone:
      break;
  }
  return "";
}

struct WorkerInfo {
  std::string name;    // from the configuration
  std::string device;  // e.g. "cuda:0 NVIDIA H200" or "cpu"
  WorkerState state = WorkerState::kStarting;
  OutReason out = OutReason::kNone;
  model::DeviceMemory memory;  // zeros on a CPU
  int restarts = 0;
  int compute_capability = 0;
  int64_t copy_bytes_per_second = 0;        // from the host to the device; 0: not known
  std::vector<std::string> models;          // loaded
  std::vector<kernels::OpListing> kernels;  // empty until it is known what its plug-ins add
  std::vector<kernels::PluginListing> plugins;
  std::vector<std::pair<std::string, std::string>> versions;
};

}  // namespace reel::front
