// SPDX-License-Identifier: Apache-2.0
// The variants "aten": each operator by libtorch itself, in the reference's order of operations and
// roundings. What the profile "reference" runs.
#pragma once

#include <string>

#include "model/bridge/framework_calls.h"

namespace reel::model::aten {

void Run(const RmsNormCall& call);
void Run(const NormCall& call);
void Run(const QkNormRopeCall& call);
// libtorch chooses among its kernels (attention_variants.h).
void Run(const AttentionCall& call);
void Run(const AttentionRestCall& call);
void Run(const GeluTanhCall& call);
void Run(const LinearCall& call);
void Run(const Conv3dCall& call);
void Run(const LinearGeluCall& call);
void Run(const StepCacheCall& call);
void Run(const GatedGeluCall& call);
void Run(const ChannelNormSiluCall& call);
void Run(const DepthToSpaceCall& call);
void Run(const FrameConvertCall& call);

// Why the plain product is not for this call: its operands are e4m3.
std::string_view WhyNotLinear(const LinearCall& call);

// linear_gelu with the activation inside the matrix product, before its one rounding, and why it
// cannot be had ("": it can).
void RunEpilogue(const LinearGeluCall& call);
std::string_view WhyNoEpilogue(const LinearGeluCall& call);

}  // namespace reel::model::aten
