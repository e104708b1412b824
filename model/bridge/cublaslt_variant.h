// SPDX-License-Identifier: Apache-2.0
// The variants "cublaslt" of linear and linear_gelu: the algorithm that a device takes a size
// fastest with, tried at its first call. Two processes may choose differently, and so give other
// last bits: "auto" does not take them.
#pragma once

#include <string_view>

#include "kernels/dispatch/variant_table.h"

namespace reel::model {

inline constexpr std::string_view kCublasLtVariant = "cublaslt";

// One of each operator; they share what they learn.
kernels::HostedVariants CublasLtVariants();

}  // namespace reel::model
