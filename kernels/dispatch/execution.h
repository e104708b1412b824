// SPDX-License-Identifier: Apache-2.0
// The context of a call: its plan, stream, counters and timer. Every operator receives it.
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

// The variant chosen for a model's call; the operator of kernels/ confirms it.
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
  CallRecorder* recorder =
      nullptr;  // records calls that reach kernels/; null except for measurements
  const HostThreads* threads = nullptr;  // for `cpu` variants; null: only the calling thread
  ChosenForModel chosen = {};            // only RunModelCall sets it
};

}  // namespace reel::kernels
