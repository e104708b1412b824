// SPDX-License-Identifier: Apache-2.0
// A native plug-in with one fault, which its definition names.
#include <stdlib.h>
#include <unistd.h>

#include <cstring>

#include "kernels/plugins/plugin_v1.h"
#include "kernels/quantize_rows/quantize_rows_launch.h"
#include "kernels/rms_norm/rms_norm_launch.h"

namespace {

using reel::kernels::RmsNormParams;

#ifdef BAD_ABORTS_ON_LOAD
__attribute__((constructor)) void Leave() { abort(); }
#endif

// Leaves its output as it was: what a plug-in of another release may do.
[[maybe_unused]] int32_t Nothing(const void*, size_t, void*) { return 0; }
[[maybe_unused]] int32_t Crash(const void*, size_t, void*) {
  abort();
  return 0;
}
[[maybe_unused]] int32_t Fail(const void*, size_t, void*) { return 7; }
[[maybe_unused]] int TakesNothing(const void*, size_t) { return 0; }

[[maybe_unused]] constexpr ReelPluginVariantV1 kVariant = {
#ifdef BAD_OPERATOR
    "rms_morn",
#elif defined(BAD_OPERATOR_WITHOUT_TEST)
    "quantize_rows",
#else
    "rms_norm",
#endif
#ifdef BAD_VARIANT_NAME
    "a name",
#else
    nullptr,
#endif
#ifdef BAD_CAPABILITY
    80,
    9999,
#else
    0,
    0,
#endif
#ifdef BAD_TYPES
    1u << 7,
#else
    REEL_PLUGIN_FP32,
#endif
#ifdef BAD_OPERATOR_WITHOUT_TEST
    sizeof(reel::kernels::QuantizeRowsParams),
#elif defined(BAD_PARAMS_SIZE)
    sizeof(RmsNormParams) + 8,
#else
    sizeof(RmsNormParams),
#endif
#ifdef BAD_TAKES_NOTHING
    TakesNothing,
#else
    nullptr,
#endif
#ifdef BAD_CRASHES
    Crash,
#elif defined(BAD_FAILS)
    Fail,
#elif defined(BAD_NO_LAUNCH)
    nullptr,
#else
    Nothing,
#endif
};

#ifdef BAD_VERSION
constexpr uint32_t kVersion = 2;
#else
constexpr uint32_t kVersion = REEL_PLUGIN_ABI_V1;
#endif
#ifdef BAD_NO_VARIANTS
constexpr uint32_t kNumVariants = 0;
#else
constexpr uint32_t kNumVariants = 1;
#endif
[[maybe_unused]] constexpr ReelPluginV1 kPlugin = {kVersion, kNumVariants, &kVariant, nullptr,
                                                   nullptr};

}  // namespace

#ifdef BAD_NEEDS_PYTHON_DATA
extern "C" int _Py_NoneStruct;
extern "C" int* reel_python_data() { return &_Py_NoneStruct; }
#endif
#if defined(BAD_NEEDS_PYTHON_AT_ONCE) || defined(GOOD_PYINIT)
extern "C" void* PyModule_Create2(void*, int);
extern "C" void* PyInit_bad() { return PyModule_Create2(nullptr, 3); }
#endif
#ifdef BAD_PYBIND
namespace pybind11 {
void Module();
}
extern "C" void reel_pybind() { pybind11::Module(); }
#endif

#ifndef BAD_NO_ENTRY
extern "C" const ReelPluginV1* reel_plugin_v1() { return &kPlugin; }
#endif
