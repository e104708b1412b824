// SPDX-License-Identifier: Apache-2.0
// The rows "aten": each operator by libtorch itself, in the reference's order of operations and
// roundings. What the profile "reference" runs.
#pragma once

#include <utility>

#include "model/bridge/aten.h"
#include "model/bridge/rope_table.h"

namespace reel::model::aten {

at::Tensor RmsNorm(const at::Tensor& x, const at::Tensor& weight, double eps);
at::Tensor RmsNormRoundedFirst(const at::Tensor& x, const at::Tensor& weight, double eps);
at::Tensor LayerNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                     double eps);
at::Tensor AdalnRmsNorm(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                        double eps);
at::Tensor AdalnLayerNorm(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                          double eps);
at::Tensor GateResidual(const at::Tensor& x, const at::Tensor& y, const at::Tensor& gate);
at::Tensor LtxRope(const at::Tensor& x, const RopeTable& table);
at::Tensor GeluTanh(const at::Tensor& x);
at::Tensor LinearGelu(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);
at::Tensor GatedGelu(const at::Tensor& gate, const at::Tensor& value);
at::Tensor ChannelNormSilu(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                           double eps);
at::Tensor DepthToSpace(const at::Tensor& x, const at::Tensor& residual, bool drop_first);
// Frames [F, 3, H, W] in -1..1 to [F, H, W, 3], and to [F, 3/2 H W].
at::Tensor Rgb8(const at::Tensor& frames);
at::Tensor I420(const at::Tensor& frames);

}  // namespace reel::model::aten
