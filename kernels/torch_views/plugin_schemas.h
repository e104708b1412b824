// SPDX-License-Identifier: Apache-2.0
// The torch.ops arguments of operators that plug-ins may bring, except fused norms
// (rows/fused_ops_schema.h has those): after the output, before the variant.
#pragma once

namespace reel::kernels {

inline constexpr char kRmsNormArguments[] =
    "Tensor x, Tensor? weight=None, Tensor? bias=None, *, float eps=1e-6, "
    "float weight_offset=0.0, bool round_before_weight=False";
inline constexpr char kActivationArguments[] =
    "Tensor x, Tensor? bias=None, *, str kind=\"gelu_tanh\"";
inline constexpr char kGatedActivationArguments[] =
    "Tensor x, Tensor? value=None, *, str kind=\"gelu_tanh\", bool gate_first=True, "
    "float threshold=0.0";

}  // namespace reel::kernels
