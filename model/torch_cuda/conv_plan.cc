// SPDX-License-Identifier: Apache-2.0
#include "model/torch_cuda/conv_plan.h"

#include <c10/util/Exception.h>

#include <utility>
#include <vector>

namespace reel::model {
namespace {

constexpr int64_t kX = 'x', kWeight = 'w', kOut = 'y';
// The engine for Hopper's tensor cores.
constexpr int64_t kEngine = 62;
using Sizes = std::array<int64_t, 5>;

void Check(cudnnStatus_t status, const char* what) {
  TORCH_CHECK(status == CUDNN_STATUS_SUCCESS, "cudnn: ", what, ": ", cudnnGetErrorString(status));
}

// Contiguous channels, sizes in the order of names: N, C, F, H, W.
Sizes StridesOf(const Sizes& sizes) {
  const auto& [n, c, f, h, w] = sizes;
  return {c * f * h * w, 1, h * w * c, w * c, c};
}

CudnnDescriptor TensorOf(int64_t id, const Sizes& sizes) {
  CudnnDescriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const cudnnDataType_t type = CUDNN_DATA_BFLOAT16;
  const int64_t alignment = 16;
  const Sizes strides = StridesOf(sizes);
  tensor.Set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, &type, 1);
  tensor.Set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, sizes.data(), 5);
  tensor.Set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, strides.data(), 5);
  tensor.Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, &id, 1);
  tensor.Set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, &alignment, 1);
  TORCH_CHECK(tensor.Finalize(), "cudnn takes no such tensor");
  return tensor;
}

CudnnDescriptor Convolution() {
  CudnnDescriptor convolution(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const int64_t dims = 3;
  const cudnnDataType_t type = CUDNN_DATA_FLOAT;
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  const std::array<int64_t, 3> padding = {0, 1, 1}, ones = {1, 1, 1};
  convolution.Set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, &dims, 1);
  convolution.Set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, &type, 1);
  convolution.Set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, &mode, 1);
  convolution.Set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, padding.data(), 3);
  convolution.Set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, padding.data(), 3);
  convolution.Set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, ones.data(), 3);
  convolution.Set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, ones.data(), 3);
  TORCH_CHECK(convolution.Finalize(), "cudnn takes no such convolution");
  return convolution;
}

void SetDescriptor(CudnnDescriptor& to, cudnnBackendAttributeName_t name,
                   const CudnnDescriptor& from) {
  const cudnnBackendDescriptor_t value = from.get();
  to.Set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, &value, 1);
}

CudnnDescriptor GraphOf(cudnnHandle_t handle, const ConvShape& shape) {
  const auto& [channels, outputs, frames, rows, columns] = shape;
  const CudnnDescriptor x = TensorOf(kX, {1, channels, frames + 2, rows, columns});
  const CudnnDescriptor weight = TensorOf(kWeight, {outputs, channels, 3, 3, 3});
  const CudnnDescriptor out = TensorOf(kOut, {1, outputs, frames, rows, columns});
  const CudnnDescriptor convolution = Convolution();
  CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  const float alpha = 1, beta = 0;
  SetDescriptor(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
  SetDescriptor(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, weight);
  SetDescriptor(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, out);
  SetDescriptor(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, convolution);
  operation.Set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, &alpha, 1);
  operation.Set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, &beta, 1);
  TORCH_CHECK(operation.Finalize(), "cudnn takes no such operation");
  CudnnDescriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  SetDescriptor(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
  graph.Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, &handle, 1);
  TORCH_CHECK(graph.Finalize(), "cudnn takes no such graph");
  return graph;
}

// Nothing if the library has no such choice.
std::optional<std::vector<CudnnDescriptor>> ChoicesOf(const ConvKnobs& knobs) {
  const std::pair<cudnnBackendKnobType_t, int64_t> choices[] = {
      {CUDNN_KNOB_TYPE_TILE_SIZE, knobs.tile},       {CUDNN_KNOB_TYPE_TILEK, knobs.tile_k},
      {CUDNN_KNOB_TYPE_IDX_MODE, knobs.index_mode},  {CUDNN_KNOB_TYPE_WORKSPACE, knobs.workspace},
      {CUDNN_KNOB_TYPE_TILE_CGA_M, knobs.cluster_m}, {CUDNN_KNOB_TYPE_TILE_CGA_N, knobs.cluster_n},
  };
  std::vector<CudnnDescriptor> made;
  for (const auto& [type, value] : choices) {
    CudnnDescriptor& choice = made.emplace_back(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    choice.Set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, &type, 1);
    choice.Set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, &value, 1);
    if (!choice.Finalize()) return std::nullopt;
  }
  return made;
}

}  // namespace

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type) {
  cudnnBackendDescriptor_t made = nullptr;
  Check(cudnnBackendCreateDescriptor(type, &made), "a descriptor");
  descriptor_.reset(made);
}

void CudnnDescriptor::Destroy::operator()(cudnnBackendDescriptor_t descriptor) const {
  cudnnBackendDestroyDescriptor(descriptor);
}

template <typename Value>
void CudnnDescriptor::Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                          const Value* values, int64_t count) {
  Check(cudnnBackendSetAttribute(get(), name, type, count, values), "an attribute");
}

bool CudnnDescriptor::Finalize() { return cudnnBackendFinalize(get()) == CUDNN_STATUS_SUCCESS; }

std::optional<ConvPlan> ConvPlan::Make(cudnnHandle_t handle, const ConvShape& shape,
                                       const ConvKnobs& knobs) {
  const CudnnDescriptor graph = GraphOf(handle, shape);
  CudnnDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  SetDescriptor(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
  engine.Set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, &kEngine, 1);
  if (!engine.Finalize()) return std::nullopt;
  const auto choices = ChoicesOf(knobs);
  if (!choices.has_value()) return std::nullopt;
  std::vector<cudnnBackendDescriptor_t> chosen;
  for (const CudnnDescriptor& choice : *choices) chosen.push_back(choice.get());
  CudnnDescriptor config(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  SetDescriptor(config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
  config.Set(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, chosen.data(),
             static_cast<int64_t>(chosen.size()));
  if (!config.Finalize()) return std::nullopt;
  CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  SetDescriptor(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
  plan.Set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, &handle, 1);
  if (!plan.Finalize()) return std::nullopt;
  int64_t bytes = 0, count = 0;
  Check(cudnnBackendGetAttribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                 CUDNN_TYPE_INT64, 1, &count, &bytes),
        "a plan's workspace");
  return ConvPlan(std::move(plan), bytes);
}

void ConvPlan::Run(cudnnHandle_t handle, const at::Tensor& x, const at::Tensor& weight,
                   const at::Tensor& workspace, const at::Tensor& out) const {
  const std::array<int64_t, 3> ids = {kX, kWeight, kOut};
  const std::array<void*, 3> data = {x.data_ptr(), weight.data_ptr(), out.data_ptr()};
  void* const scratch = workspace.data_ptr();
  CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.Set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, ids.data(), 3);
  pack.Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, data.data(), 3);
  pack.Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, &scratch, 1);
  TORCH_CHECK(pack.Finalize(), "cudnn takes no such operands");
  Check(cudnnBackendExecute(handle, plan_.get(), pack.get()), "a convolution");
}

}  // namespace reel::model
