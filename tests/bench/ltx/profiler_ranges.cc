// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/ltx/profiler_ranges.h"

#ifdef REEL_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace reel::bench {

#ifdef REEL_NVTX
bool HasRanges() { return true; }
void PushRange(const std::string& name) { nvtxRangePushA(name.c_str()); }
void PopRange() { nvtxRangePop(); }
#else
bool HasRanges() { return false; }
void PushRange(const std::string&) {}
void PopRange() {}
#endif

void RangeTimer::Start(std::string_view op, std::string_view variant, kernels::DeviceStream) {
  PushRange(std::string(op) + "=" + std::string(variant));
}

void RangeTimer::Stop(kernels::DeviceStream) { PopRange(); }

}  // namespace reel::bench
