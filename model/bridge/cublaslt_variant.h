// SPDX-License-Identifier: Apache-2.0
// The variants of linear and linear_gelu that name an algorithm of cublasLt. "cublaslt": the one
// that a device takes a size fastest with, tried at its first call. Two processes may choose
// differently, and so give other last bits: "auto" does not take them. "tuned", and
// "e4m3_rows_tuned" for rows in 8 bits: the one of a table (cuda/lt_table.h), which "auto" takes at
// the sizes that the table has. "e4m3" of linear_gelu: from e4m3 to e4m3 in one pass.
#pragma once

#include <string_view>

#include "kernels/dispatch/variant_table.h"

namespace reel::model {

inline constexpr std::string_view kCublasLtVariant = "cublaslt", kTunedVariant = "tuned",
                                  kTunedE4m3Variant = "e4m3_rows_tuned", kE4m3GeluVariant = "e4m3";

// One of each operator; they share what they learn.
struct CublasLtVariants {
  kernels::HostedVariants timed, tuned;
};
CublasLtVariants MakeCublasLtVariants();

}  // namespace reel::model
