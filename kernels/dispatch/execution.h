// SPDX-License-Identifier: Apache-2.0
// The context of a call: its plan, stream, counters and timer. Passed down to every operator.
#pragma once

#include <string_view>

#include "kernels/base/dtype.h"

namespace reel::kernels {

class KernelPlan;
class KernelCounters;
class KernelTimer;
class CallRecorder;
struct HostThreads;

struct CatalogVariant;

// What a model's call has chosen; the operator of kernels/ that it comes to confirms it.
struct ChosenForModel {
  const CatalogVariant* variant = nullptr;
  std::string_view op = {};
  Dtype dtype = Dtype::kF32;
};

struct DeviceStream {
  int device = -1;         // -1: CPU
  void* handle = nullptr;  // cudaStream_t; null on a CPU
};

struct Execution {
  const KernelPlan& plan;
  KernelCounters& counters;
  KernelTimer* timer;  // null on steps that are not sampled
  DeviceStream stream;
  CallRecorder* recorder = nullptr;      // of calls that reach kernels/; null but for measurements
  const HostThreads* threads = nullptr;  // for `cpu` variants; null: the calling thread alone
  ChosenForModel chosen = {};            // set by RunModelCall alone
};

}  // namespace reel::kernels
