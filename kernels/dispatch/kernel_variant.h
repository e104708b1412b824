// SPDX-License-Identifier: Apache-2.0
// Describes a variant, one implementation of an operator, and how a loaded library hands over its
// variants.
//
// Plain C layouts: the same structs describe built-in CPU variants, those of libreel_cuda and those
// of native plug-ins, across the boundary of a shared library.
#pragma once

#include <cstdint>

#include "kernels/base/dtype.h"

namespace reel::kernels {

inline constexpr int32_t kCpuOnly = 0;
inline constexpr int32_t kAnyLaterSm = 9999;

struct KernelVariant {
  const char* name;
  // The capabilities (major * 10 + minor) that it runs on; both kCpuOnly for a CPU variant.
  int32_t min_sm;
  int32_t max_sm;
  DtypeMask dtypes;
  // Whether it can take a call. Depends on widths, strides and alignment, never on the number of
  // rows: a row of a batch must get the same bits as the row alone. Null: takes every call.
  bool (*accepts)(const void* params);
  // Launches on `stream` (cudaStream_t; on a CPU HostThreads, or null). Returns a cudaError_t; 0 is
  // success.
  int32_t (*launch)(const void* params, void* stream);
};

// The variants of one operator from one source, best first.
struct OpVariants {
  const char* op;
  uint64_t params_size;  // size of the struct behind `params`: a table with another size is refused
  const KernelVariant* variants;
  int32_t count;
};

enum class DeviceErrorKind : int32_t {
  kOutOfMemory = 1,  // the next, smaller call may succeed
  kSticky = 2,       // the context is lost; only a new process helps
  kOther = 3,
};

struct RankGive;

struct DeviceProperties {
  int32_t sm;  // major * 10 + minor
  int64_t memory_bytes;
  char name[256];
};

// The result of reel_cuda_library() of libreel_cuda.so.
struct CudaLibraryTable {
  int32_t version;  // kCudaLibraryVersion
  int32_t num_ops;
  const OpVariants* ops;
  const char* (*error_name)(int32_t error);
  DeviceErrorKind (*error_kind)(int32_t error);
  int32_t (*device_count)(int32_t* count);
  int32_t (*device_properties)(int32_t device, DeviceProperties* properties);
  // Timed events (cudaEvent_t); an int32_t result is a cudaError_t.
  int32_t (*event_create)(int32_t device, void** event);
  int32_t (*event_record)(void* event, void* stream);
  // Both must be recorded; waits for `end`.
  int32_t (*nanoseconds_between)(void* start, void* end, int64_t* nanoseconds);
  void (*event_destroy)(void* event);
  // Replaces small memsets to zero in a recorded graph (cudaGraph_t) without an executable form by
  // kernels; returns how many.
  int32_t (*zeros_as_kernels)(void* graph, int32_t* replaced);
  // Writes a rank's tokens to the memory of all ranks (rank_give_layout.h), on `stream`.
  int32_t (*give_to_ranks)(const RankGive& give, void* stream);
  // Copies `bytes` bytes of page-locked memory to the device `count` times, and times each copy.
  int32_t (*time_copies)(int32_t device, int64_t bytes, int32_t count, int64_t* nanoseconds);
};
inline constexpr int32_t kCudaLibraryVersion = 5;
inline constexpr char kCudaLibraryEntry[] = "reel_cuda_library";

struct HostThreads;

// Makes variants from typed functions.
template <auto kAccepts>
struct Erased;
template <typename Params, bool (*kAccepts)(const Params&)>
struct Erased<kAccepts> {
  static bool Accepts(const void* params) { return kAccepts(*static_cast<const Params*>(params)); }
};
template <typename Params, void (*kRun)(const Params&)>
struct Erased<kRun> {
  static int32_t Launch(const void* params, void*) {
    kRun(*static_cast<const Params*>(params));
    return 0;
  }
};
template <typename Params, void (*kRun)(const Params&, const HostThreads*)>
struct Erased<kRun> {
  static int32_t Launch(const void* params, void* threads) {
    kRun(*static_cast<const Params*>(params), static_cast<const HostThreads*>(threads));
    return 0;
  }
};
template <typename Params, int32_t (*kLaunch)(const Params&, void*)>
struct Erased<kLaunch> {
  static int32_t Launch(const void* params, void* stream) {
    return kLaunch(*static_cast<const Params*>(params), stream);
  }
};

template <auto kRun>
constexpr KernelVariant CpuVariant(const char* name, DtypeMask dtypes = kAnyFloating) {
  return {name, kCpuOnly, kCpuOnly, dtypes, nullptr, &Erased<kRun>::Launch};
}
template <auto kRun, auto kAccepts>
constexpr KernelVariant CpuVariant(const char* name, DtypeMask dtypes = kAnyFloating) {
  return {name, kCpuOnly, kCpuOnly, dtypes, &Erased<kAccepts>::Accepts, &Erased<kRun>::Launch};
}
// Any capability, every call.
template <auto kLaunch>
constexpr KernelVariant GenericCudaVariant(DtypeMask dtypes = kAnyFloating) {
  return {"generic", 75, kAnyLaterSm, dtypes, nullptr, &Erased<kLaunch>::Launch};
}
// A name belongs to one variant for each device. `sm80` and `sm90` are those that a model's step
// runs; other kernels of the operator are named after what they take.
inline constexpr char kGeneralSm80[] = "sm80_general";  // what the plain kernel does not
inline constexpr char kE4m3Sm80[] = "sm80_e4m3";        // an output in e4m3
inline constexpr char kE4m3Sm90[] = "sm90_e4m3";
inline constexpr char kInt8Sm90[] = "sm90_int8";      // operands or an output in int8
inline constexpr char kRoutedSm90[] = "sm90_routed";  // keys that were chosen, and means of others
template <auto kLaunch, auto kAccepts>
constexpr KernelVariant Sm80Variant(DtypeMask dtypes = kAnyFloating, const char* name = "sm80") {
  return {name, 80, kAnyLaterSm, dtypes, &Erased<kAccepts>::Accepts, &Erased<kLaunch>::Launch};
}
// Code for sm_90a runs on capability 9.0 alone.
template <auto kLaunch, auto kAccepts>
constexpr KernelVariant Sm90Variant(DtypeMask dtypes = kAnyFloating, const char* name = "sm90") {
  return {name, 90, 90, dtypes, &Erased<kAccepts>::Accepts, &Erased<kLaunch>::Launch};
}

template <typename Params, int kCount>
constexpr OpVariants MakeVariants(const char* op, const KernelVariant (&variants)[kCount]) {
  return {op, sizeof(Params), variants, kCount};
}

}  // namespace reel::kernels
