// SPDX-License-Identifier: Apache-2.0
// One convolution of cuDNN by a named plan: an engine of the library and its knobs. A pixel's
// channels are contiguous.
#pragma once

#include <cudnn.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "model/bridge/aten.h"

namespace reel::model {

// The shape of a plan, in bf16: y [1, outputs, frames, rows, columns] from 3x3x3 weights. Rows and
// columns are padded with zeros here, frames by the caller.
struct ConvShape {
  int64_t channels = 0, outputs = 0, frames = 0, rows = 0, columns = 0;

  bool operator==(const ConvShape&) const = default;
  int64_t positions() const { return frames * rows * columns; }
};

// An engine and knobs, whose numbers depend on the library's version.
struct ConvKnobs {
  int64_t tile = 0, tile_k = 0, index_mode = 0, workspace = 0, cluster_m = 0, cluster_n = 0;
};

// A descriptor of cuDNN's graph interface. Throws c10::Error.
class CudnnDescriptor {
 public:
  explicit CudnnDescriptor(cudnnBackendDescriptorType_t type);

  cudnnBackendDescriptor_t get() const { return descriptor_.get(); }
  template <typename Value>
  void Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const Value* values,
           int64_t count);
  // Whether the library accepts the plan.
  bool Finalize();

 private:
  struct Destroy {
    void operator()(cudnnBackendDescriptor_t descriptor) const;
  };
  std::unique_ptr<void, Destroy> descriptor_;
};

class ConvPlan {
 public:
  // Nothing if the library refuses these knobs for this shape.
  static std::optional<ConvPlan> Make(cudnnHandle_t handle, const ConvShape& shape,
                                      const ConvKnobs& knobs);

  int64_t workspace_bytes() const { return workspace_bytes_; }
  // Writes to `out`, on the handle's stream.
  void Run(cudnnHandle_t handle, const at::Tensor& x, const at::Tensor& weight,
           const at::Tensor& workspace, const at::Tensor& out) const;

 private:
  ConvPlan(CudnnDescriptor plan, int64_t workspace_bytes)
      : plan_(std::move(plan)), workspace_bytes_(workspace_bytes) {}

  CudnnDescriptor plan_;
  int64_t workspace_bytes_ = 0;
};

}  // namespace reel::model
