// SPDX-License-Identifier: Apache-2.0
// Convolutions of cuDNN by the plans of a table (torch_cuda/conv_table.h), which are faster than
// the library's own choice. This is the variant "tuned" of conv3d; "auto" takes it at the sizes in
// the table.
#pragma once

#include <memory>

#include "kernels/dispatch/hosted_variant.h"
#include "model/bridge/conv3d_call.h"

namespace reel::model {

// Confined to one thread; throws what libtorch throws.
class TunedConvolutions {
 public:
  virtual ~TunedConvolutions() = default;
  // Whether the table has a plan for the call. It has plans for 3x3x3 taps one apart in bf16,
  // without a bias, for one clip whose channels are contiguous. Rows and columns are padded by one,
  // frames by none.
  virtual bool Takes(const aten::Conv3dCall& call) = 0;
  // On libtorch's current stream.
  virtual at::Tensor Run(const aten::Conv3dCall& call) = 0;
};

std::shared_ptr<const kernels::HostedVariant> MakeTunedConvolution();

}  // namespace reel::model
