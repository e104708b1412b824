// SPDX-License-Identifier: Apache-2.0
// Times operators on a GPU: an event before and after each call, read when the step has ended.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/dispatch/kernel_timer.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

// Used by the executing thread alone. Between two Take()s it times at most kMostCalls calls; it
// leaves out later ones, and those whose time the device does not report. Not for a stream that is
// being captured.
class DeviceTimer : public KernelTimer {
 public:
  static constexpr size_t kMostCalls = 8192;

  // `library` must outlive it; `device` is the device of every stream passed in.
  DeviceTimer(const CudaLibraryTable& library, int device) : library_(library), device_(device) {}
  ~DeviceTimer() override;

  DeviceTimer(const DeviceTimer&) = delete;
  DeviceTimer& operator=(const DeviceTimer&) = delete;

  void Start(std::string_view op, std::string_view variant, DeviceStream stream) override;
  void Stop(DeviceStream stream) override;
  std::vector<VariantTime> Take() override;
  int64_t TakenSpan() const override { return taken_span_ns_; }

 private:
  struct Span {
    void* start = nullptr;
    void* end = nullptr;
    std::string op;
    std::string variant;
    bool whole = false;  // both events are recorded
  };

  bool GrowTo(size_t spans);

  const CudaLibraryTable& library_;
  const int device_;
  std::vector<Span> spans_;  // their events are reused
  size_t used_ = 0;
  int64_t taken_span_ns_ = 0;
  bool running_ = false;  // between Start and Stop of the last entry
};

}  // namespace reel::kernels
