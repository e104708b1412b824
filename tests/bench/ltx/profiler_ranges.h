// SPDX-License-Identifier: Apache-2.0
// Ranges of NVTX around operators, so that Nsight Systems shows which kernels an operator launched.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/dispatch/kernel_timer.h"

namespace reel::bench {

// False in a build without the headers of NVTX, which come with the CUDA compiler. Ranges then do
// nothing, as in a process that no profiler watches.
bool HasRanges();

void PushRange(const std::string& name);
void PopRange();

// Marks each operator's call as a range "op=variant", and takes no times. Steps under it are not
// recorded as graphs, so each kernel lies in its operator's range.
class RangeTimer final : public kernels::KernelTimer {
 public:
  void Start(std::string_view op, std::string_view variant, kernels::DeviceStream stream) override;
  void Stop(kernels::DeviceStream stream) override;
  std::vector<kernels::VariantTime> Take() override { return {}; }
};

}  // namespace reel::bench
