// SPDX-License-Identifier: Apache-2.0
// Which operators libtorch runs for models, as variants "aten" of a process's catalog. Knows no
// tensor: a process may list what it never calls.
#pragma once

#include <array>
#include <string_view>

#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_catalog.h"

namespace reel::model {

inline constexpr std::string_view kAtenVariant = "aten";
// Of linear_gelu alone: the activation inside the matrix product. Needs a GPU.
inline constexpr std::string_view kEpilogueVariant = "epilogue";

// Of attention and cross_attention: libtorch's kernels for them, best first. "auto" leaves the
// choice to libtorch and counts what it took; "aten" leaves it, too, and says no more.
inline constexpr std::string_view kCudnnVariant = "cudnn";
inline constexpr std::string_view kFlashVariant = "flash";
inline constexpr std::string_view kMemEfficientVariant = "mem_efficient";
inline constexpr std::string_view kMathVariant = "math";
inline constexpr std::array kAttentionVariants = {kCudnnVariant, kFlashVariant,
                                                  kMemEfficientVariant, kMathVariant};

// Whether the profile "auto" prefers libtorch's implementation of `op` there.
bool AtenComesFirst(std::string_view op, kernels::DeviceStream stream);

// Before or behind the built-in variants, as "auto" takes them.
void AddFrameworkVariants(kernels::KernelCatalog& catalog);

}  // namespace reel::model
