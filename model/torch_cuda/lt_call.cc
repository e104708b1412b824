// SPDX-License-Identifier: Apache-2.0
#include "model/torch_cuda/lt_call.h"

#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>

namespace reel::model {
namespace {

void Check(cublasStatus_t status, const char* what) {
  TORCH_CHECK(status == CUBLAS_STATUS_SUCCESS, "cublasLt: ", what, ": ",
              cublasLtGetStatusName(status));
}

cudaDataType_t TypeOf(at::ScalarType type) {
  if (type == at::kHalf) return CUDA_R_16F;
  return type == at::kBFloat16 ? CUDA_R_16BF : CUDA_R_8F_E4M3;
}

cublasLtEpilogue_t EpilogueOf(const LtShape& shape) {
  if (shape.gelu) return shape.bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  return shape.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

class Preference {
 public:
  explicit Preference(size_t workspace) {
    Check(cublasLtMatmulPreferenceCreate(&preference_), "a preference");
    Check(cublasLtMatmulPreferenceSetAttribute(
              preference_, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof(workspace)),
          "a workspace");
  }
  ~Preference() { cublasLtMatmulPreferenceDestroy(preference_); }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;
  cublasLtMatmulPreference_t get() const { return preference_; }

 private:
  cublasLtMatmulPreference_t preference_ = nullptr;
};

}  // namespace

LtShape ShapeOf(const MatrixProduct& product) {
  const int64_t width = product.x.size(-1);
  return {.rows = width == 0 ? 0 : product.x.numel() / width,
          .outputs = product.weight.size(0),
          .width = width,
          .x_step = StepOf(product.x),
          .weight_step = product.weight.stride(0),
          .out_step = product.weight.size(0) + product.room,
          .type = product.x.scalar_type(),
          .bias = product.bias.defined(),
          .gelu = product.gelu,
          .residual = product.residual.defined(),
          .tuned = product.tuned,
          .to_e4m3 = product.to_out != nullptr};
}

LtCall::LtCall(const LtShape& shape)
    : e4m3_(shape.type == at::kFloat8_e4m3fn),
      to_e4m3_(shape.to_e4m3),
      in_(TypeOf(shape.type)),
      added_(e4m3_ ? CUDA_R_16BF : in_),
      result_(to_e4m3_ ? in_ : added_) {
  cublasLtMatmulDesc_t operation = nullptr;
  Check(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F), "an operation");
  operation_.reset(operation);
  Set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  Set(CUBLASLT_MATMUL_DESC_EPILOGUE, EpilogueOf(shape));
  if (shape.bias) Set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, added_);
  if (e4m3_) Set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, int8_t{1});
  if (e4m3_ && !to_e4m3_) {
    Set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F);
    Set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F);
  }
  weight_ = LayoutOf(in_, shape.width, shape.outputs, shape.weight_step);
  x_ = LayoutOf(in_, shape.width, shape.rows, shape.x_step);
  added_layout_ = LayoutOf(added_, shape.outputs, shape.rows, shape.outputs);
  out_ = LayoutOf(result_, shape.outputs, shape.rows, shape.out_step);
}

LtCall::Layout LtCall::LayoutOf(cudaDataType_t type, int64_t rows, int64_t columns, int64_t step) {
  cublasLtMatrixLayout_t layout = nullptr;
  Check(cublasLtMatrixLayoutCreate(&layout, type, static_cast<uint64_t>(rows),
                                   static_cast<uint64_t>(columns), step),
        "a layout");
  return Layout(layout);
}

template <typename Value>
void LtCall::Set(cublasLtMatmulDescAttributes_t attribute, Value value) {
  Check(cublasLtMatmulDescSetAttribute(operation_.get(), attribute, &value, sizeof(value)),
        "an attribute");
}

void LtCall::PointTo(const MatrixProduct& product) {
  if (product.bias.defined()) {
    Set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, product.bias.const_data_ptr());
  }
  if (!e4m3_) return;
  Set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, product.weight_scale.const_data_ptr());
  Set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, product.x_scale.const_data_ptr());
  if (to_e4m3_) Set(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, product.to_out->const_data_ptr());
}

std::vector<cublasLtMatmulAlgo_t> LtCall::Candidates(cublasLtHandle_t handle,
                                                     const MatrixProduct& product, size_t workspace,
                                                     int most) {
  PointTo(product);
  const Preference preference(workspace);
  std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<size_t>(most));
  int found = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(handle, operation_.get(), weight_.get(), x_.get(), added(),
                                     out_.get(), preference.get(), most, results.data(), &found);
  std::vector<cublasLtMatmulAlgo_t> algorithms;
  for (int i = 0; status == CUBLAS_STATUS_SUCCESS && i < found; ++i) {
    const auto& result = results[static_cast<size_t>(i)];
    if (result.state == CUBLAS_STATUS_SUCCESS) algorithms.push_back(result.algo);
  }
  return algorithms;
}

std::optional<cublasLtMatmulAlgo_t> LtCall::Configured(cublasLtHandle_t handle,
                                                       const MatrixProduct& product,
                                                       const LtAlgorithm& algorithm,
                                                       size_t workspace) {
  PointTo(product);
  cublasLtMatmulAlgo_t made;
  bool fits = cublasLtMatmulAlgoInit(handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, in_, in_, added_,
                                     result_, algorithm.id, &made) == CUBLAS_STATUS_SUCCESS;
  const auto set = [&](cublasLtMatmulAlgoConfigAttributes_t attribute, auto value) {
    fits = fits && cublasLtMatmulAlgoConfigSetAttribute(&made, attribute, &value, sizeof(value)) ==
                       CUBLAS_STATUS_SUCCESS;
  };
  set(CUBLASLT_ALGO_CONFIG_TILE_ID, algorithm.tile);
  set(CUBLASLT_ALGO_CONFIG_STAGES_ID, algorithm.stages);
  set(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, algorithm.custom);
  set(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, algorithm.cluster);
  cublasLtMatmulHeuristicResult_t result{};
  fits = fits && cublasLtMatmulAlgoCheck(handle, operation_.get(), weight_.get(), x_.get(), added(),
                                         out_.get(), &made, &result) == CUBLAS_STATUS_SUCCESS;
  if (!fits || result.workspaceSize > workspace) return std::nullopt;
  return made;
}

cublasStatus_t LtCall::Run(cublasLtHandle_t handle, const MatrixProduct& product,
                           const cublasLtMatmulAlgo_t& algorithm, const at::Tensor& workspace,
                           const at::Tensor& out) {
  PointTo(product);
  const bool adds = product.residual.defined();
  const float one = 1, beta = adds ? 1 : 0;
  // Not read if nothing is added.
  const at::Tensor& other = adds ? product.residual : to_e4m3_ ? product.x : out;
  return cublasLtMatmul(
      handle, operation_.get(), &one, product.weight.const_data_ptr(), weight_.get(),
      product.x.const_data_ptr(), x_.get(), &beta, other.const_data_ptr(), added(),
      out.mutable_data_ptr(), out_.get(), &algorithm, workspace.mutable_data_ptr(),
      static_cast<size_t>(workspace.numel()), c10::cuda::getCurrentCUDAStream().stream());
}

}  // namespace reel::model
