// SPDX-License-Identifier: Apache-2.0
#include "model/torch_cuda/cudnn_convolutions.h"

#include <ATen/cudnn/Handle.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/util/Exception.h>

#include <list>
#include <optional>
#include <utility>

#include "model/torch_cuda/conv_plan.h"
#include "model/torch_cuda/conv_table.h"

namespace reel::model {
namespace {

// The decode of one size of video has up to a hundred, most of them in its last stage.
constexpr size_t kMostShapes = 1024;

ConvShape ShapeOf(const aten::Conv3dCall& call) {
  return {.channels = call.x.size(1),
          .outputs = call.weight.size(0),
          .frames = call.x.size(2) - 2,
          .rows = call.x.size(3),
          .columns = call.x.size(4)};
}

class CudnnConvolutions final : public TunedConvolutions {
 public:
  explicit CudnnConvolutions(int device) : device_(static_cast<c10::DeviceIndex>(device)) {}

  bool Takes(const aten::Conv3dCall& call) override {
    const c10::cuda::CUDAGuard guard(device_);
    return Find(ShapeOf(call)).has_value();
  }

  at::Tensor Run(const aten::Conv3dCall& call) override {
    const c10::cuda::CUDAGuard guard(device_);
    const ConvShape shape = ShapeOf(call);
    const std::optional<ConvPlan>& plan = Find(shape);
    TORCH_CHECK(plan.has_value(), "cudnn: the table has no plan for this convolution");
    const at::Tensor out = at::empty({1, shape.outputs, shape.frames, shape.rows, shape.columns},
                                     call.x.options(), at::MemoryFormat::ChannelsLast3d);
    const at::Tensor workspace =
        at::empty({plan->workspace_bytes()}, call.x.options().dtype(at::kByte));
    plan->Run(at::native::getCudnnHandle(), call.x, call.weight, workspace, out);
    return out;
  }

 private:
  struct Known {
    ConvShape shape;
    std::optional<ConvPlan> plan;  // none: use the library's choice
  };

  const std::optional<ConvPlan>& Find(const ConvShape& shape) {
    for (const Known& known : known_) {
      if (known.shape == shape) return known.plan;
    }
    std::optional<ConvPlan> made;
    if (const ConvKnobs* const knobs = TunedFor(shape); knobs != nullptr) {
      made = ConvPlan::Make(at::native::getCudnnHandle(), shape, *knobs);
    }
    known_.push_front({shape, std::move(made)});
    if (known_.size() > kMostShapes) known_.pop_back();
    return known_.front().plan;
  }

  const c10::DeviceIndex device_;
  std::list<Known> known_;  // latest first
};

}  // namespace
}  // namespace reel::model

extern "C" __attribute__((visibility("default"))) reel::model::TunedConvolutions*
reel_tuned_convolutions(int device) {
  return new reel::model::CudnnConvolutions(device);
}
