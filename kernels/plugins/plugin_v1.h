// SPDX-License-Identifier: Apache-2.0
// The C interface of native plug-ins: kernels for reel-worker without torch. Plain C, and only
// ever extended by a new version: a library says which one it was written for.
//
// The parameters of an operator are the struct of kernels/<operator>/<operator>_launch.h or, for
// norms, adaptive norms and gates, of kernels/rows/fused_norm.h, in the release of Reel that loads
// the plug-in. A variant with another params_size is refused, and each variant is compared with the
// operator's reference before it is used.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { REEL_PLUGIN_ABI_V1 = 1 };

// Bits of ReelPluginVariantV1.dtypes.
enum { REEL_PLUGIN_FP16 = 1 << 0, REEL_PLUGIN_BF16 = 1 << 1, REEL_PLUGIN_FP32 = 1 << 2 };

// What a launch error means for the process.
enum { REEL_PLUGIN_OUT_OF_MEMORY = 1, REEL_PLUGIN_DEVICE_LOST = 2, REEL_PLUGIN_OTHER = 3 };

typedef struct ReelPluginVariantV1 {
  const char* op;    // e.g. "rms_norm"
  const char* name;  // letters, digits, _ and -; NULL if the plug-in has one variant of op
  int32_t min_sm;    // capability, major * 10 + minor; both 0 for a CPU variant
  int32_t max_sm;    // 9999: any later one
  uint32_t dtypes;   // of the tensor x
  uint64_t params_size;
  // Non-zero: it takes this call. Must not depend on the number of rows: a row of a batch has the
  // bits of the row alone. NULL: every call, with any strides.
  int (*accepts)(const void* params, size_t params_size);
  // Writes every output element on `stream` (cudaStream_t; NULL on a CPU), allocates nothing, does
  // not wait. 0 is success. Never called without elements.
  int32_t (*launch)(const void* params, size_t params_size, void* stream);
} ReelPluginVariantV1;

typedef struct ReelPluginV1 {
  uint32_t abi;  // REEL_PLUGIN_ABI_V1
  uint32_t num_variants;
  const ReelPluginVariantV1* variants;
  const char* (*error_name)(int32_t error);  // or NULL
  int32_t (*error_kind)(int32_t error);      // or NULL: REEL_PLUGIN_OTHER
} ReelPluginV1;

// The only exported function. Its result must stay valid.
#define REEL_PLUGIN_V1_ENTRY "reel_plugin_v1"
typedef const ReelPluginV1* (*ReelPluginV1Entry)(void);

#ifdef __cplusplus
}
#endif
