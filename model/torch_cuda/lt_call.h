// SPDX-License-Identifier: Apache-2.0
// One matrix product by cublasLt. Row-major x [M, K] and W [N, K] are columns of K there, so the
// library computes out^T = W x^T: its A is the weight, its B the rows.
#pragma once

#include <cublasLt.h>

#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "model/bridge/matrix_products.h"

namespace reel::model {

// The properties that an algorithm is chosen by.
struct LtShape {
  int64_t rows = 0, outputs = 0, width = 0;
  int64_t x_step = 0, weight_step = 0, out_step = 0;  // from a row to the next
  at::ScalarType type = at::kBFloat16;
  bool bias = false, gelu = false, residual = false, tuned = false;
  bool to_e4m3 = false;

  bool operator==(const LtShape&) const = default;
};
LtShape ShapeOf(const MatrixProduct& product);

// One of the library's algorithms, by its numbers in one version of it.
struct LtAlgorithm {
  int id = 0;
  uint32_t tile = 0, stages = 0, custom = 0;
  uint16_t cluster = 0;
};

// Descriptors of a shape; the tensors' addresses are given at each call. Throws c10::Error.
class LtCall {
 public:
  explicit LtCall(const LtShape& shape);

  // The library's candidates for a product, in its own order, or none; none of them needs more than
  // `workspace`.
  std::vector<cublasLtMatmulAlgo_t> Candidates(cublasLtHandle_t handle,
                                               const MatrixProduct& product, size_t workspace,
                                               int most);
  // Nothing if the library refuses it for this shape, or needs more than `workspace`.
  std::optional<cublasLtMatmulAlgo_t> Configured(cublasLtHandle_t handle,
                                                 const MatrixProduct& product,
                                                 const LtAlgorithm& algorithm, size_t workspace);
  // Writes to `out` [M, N], on libtorch's current stream.
  cublasStatus_t Run(cublasLtHandle_t handle, const MatrixProduct& product,
                     const cublasLtMatmulAlgo_t& algorithm, const at::Tensor& workspace,
                     const at::Tensor& out);

 private:
  template <auto kDestroy>
  struct Destroyer {
    template <typename Pointed>
    void operator()(Pointed* pointed) const {
      kDestroy(pointed);
    }
  };
  using Operation = std::unique_ptr<std::remove_pointer_t<cublasLtMatmulDesc_t>,
                                    Destroyer<&cublasLtMatmulDescDestroy>>;
  using Layout = std::unique_ptr<std::remove_pointer_t<cublasLtMatrixLayout_t>,
                                 Destroyer<&cublasLtMatrixLayoutDestroy>>;

  static Layout LayoutOf(cudaDataType_t type, int64_t rows, int64_t columns, int64_t step);
  // The added tensor has bf16's layout if the result is e4m3.
  cublasLtMatrixLayout_t added() const { return to_e4m3_ ? added_layout_.get() : out_.get(); }
  // The library also checks bias and scales when it is asked for candidates.
  void PointTo(const MatrixProduct& product);
  template <typename Value>
  void Set(cublasLtMatmulDescAttributes_t attribute, Value value);

  const bool e4m3_, to_e4m3_;
  const cudaDataType_t in_, added_, result_;
  Operation operation_;
  Layout weight_, x_, added_layout_, out_;
};

}  // namespace reel::model
