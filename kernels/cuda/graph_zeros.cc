// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/graph_zeros.h"

#include <cuda_runtime_api.h>

#include <vector>

#include "kernels/cuda/graph_zeros_launch.h"

namespace reel::kernels {
namespace {

constexpr size_t kMostBytes = 4096;  // a larger memset is not a counter

// The nodes before a node, or after it.
struct Neighbours {
  std::vector<cudaGraphNode_t> nodes;
  std::vector<cudaGraphEdgeData> edges;
};

template <typename Ask>
cudaError_t Read(const Ask& ask, cudaGraphNode_t node, Neighbours& neighbours) {
  size_t count = 0;
  cudaError_t error = ask(node, nullptr, nullptr, &count);
  if (error != cudaSuccess || count == 0) return error;
  neighbours.nodes.resize(count);
  neighbours.edges.resize(count);
  error = ask(node, neighbours.nodes.data(), neighbours.edges.data(), &count);
  return error;
}

// Adds a kernel that does the same, between the same neighbours.
cudaError_t Replace(cudaGraph_t graph, cudaGraphNode_t node, const cudaMemsetParams& zero) {
  Neighbours before, behind;
  cudaError_t error = Read(&cudaGraphNodeGetDependencies, node, before);
  if (error != cudaSuccess) return error;
  error = Read(&cudaGraphNodeGetDependentNodes, node, behind);
  if (error != cudaSuccess) return error;
  void* first = zero.dst;
  auto bytes = static_cast<unsigned>(zero.elementSize * zero.width);
  void* arguments[] = {&first, &bytes};
  cudaKernelNodeParams launch = {};
  launch.func = const_cast<void*>(ZeroKernel());
  launch.gridDim = dim3(1);
  launch.blockDim = dim3(kZeroThreads);
  launch.kernelParams = arguments;
  cudaGraphNode_t kernel = nullptr;
  error = cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &launch);
  for (size_t i = 0; error == cudaSuccess && i < before.nodes.size(); ++i) {
    error = cudaGraphAddDependencies(graph, &before.nodes[i], &kernel, &before.edges[i], 1);
  }
  for (size_t i = 0; error == cudaSuccess && i < behind.nodes.size(); ++i) {
    error = cudaGraphAddDependencies(graph, &kernel, &behind.nodes[i], &behind.edges[i], 1);
  }
  return error == cudaSuccess ? cudaGraphDestroyNode(node) : error;
}

// Whether the node zeroes a counter, and which.
cudaError_t Look(cudaGraphNode_t node, bool& is_small_zero, cudaMemsetParams& params) {
  is_small_zero = false;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  cudaError_t error = cudaGraphNodeGetType(node, &type);
  if (error != cudaSuccess || type != cudaGraphNodeTypeMemset) return error;
  error = cudaGraphMemsetNodeGetParams(node, &params);
  is_small_zero = error == cudaSuccess && params.value == 0 && params.height == 1 &&
                  params.elementSize * params.width <= kMostBytes;
  return error;
}

}  // namespace

int32_t ZerosAsKernels(void* graph, int32_t* replaced) {
  *replaced = 0;
  const auto whole = static_cast<cudaGraph_t>(graph);
  size_t count = 0;
  cudaError_t error = cudaGraphGetNodes(whole, nullptr, &count);
  if (error != cudaSuccess) return error;
  std::vector<cudaGraphNode_t> nodes(count);
  if (count > 0) error = cudaGraphGetNodes(whole, nodes.data(), &count);
  if (error != cudaSuccess) return error;
  for (const cudaGraphNode_t node : nodes) {
    bool is_small_zero = false;
    cudaMemsetParams params{};
    error = Look(node, is_small_zero, params);
    if (error == cudaSuccess && is_small_zero) error = Replace(whole, node, params);
    if (error != cudaSuccess) return error;
    *replaced += is_small_zero ? 1 : 0;
  }
  return cudaSuccess;
}

}  // namespace reel::kernels
