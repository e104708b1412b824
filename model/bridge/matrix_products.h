// SPDX-License-Identifier: Apache-2.0
// Matrix products of the vendor's library with all that it can do in one pass, by the algorithm
// that a device does them fastest with.
#pragma once

#include <memory>

#include "model/bridge/aten.h"

namespace reel::model {

// gelu_tanh( (x W^T) * scales + bias ) + residual; what is undefined is left out. Rows of x and of
// W are even (HasEvenRows), of others contiguous.
struct MatrixProduct {
  const at::Tensor& x;             // [..., K]; bf16, fp16 or e4m3
  const at::Tensor& weight;        // [N, K], as x
  const at::Tensor& bias;          // [N], of bias_type()
  const at::Tensor& x_scale;       // of e4m3: fp32 [...]
  const at::Tensor& weight_scale;  // of e4m3: fp32 [N]
  const at::Tensor& residual;      // [..., N], as the result
  bool gelu = false;
  bool tuned = false;  // by the algorithm of a table, and only where that has one
  // Elements behind each row of the result, which is a view then. With room, as with `to_out`, what
  // is tuned runs the library's choice where the table has none.
  int64_t room = 0;
  // For e4m3 with one scale for x and one for the weight (fp32 [1]): the factor of the result,
  // which is then e4m3 too.
  const at::Tensor* to_out = nullptr;

  // e4m3 gives bf16, or e4m3.
  at::ScalarType result() const { return to_out != nullptr ? at::kFloat8_e4m3fn : bias_type(); }
  at::ScalarType bias_type() const {
    return x.scalar_type() == at::kFloat8_e4m3fn ? at::kBFloat16 : x.scalar_type();
  }
};

// From a row of x to the next.
inline int64_t StepOf(const at::Tensor& x) { return x.dim() > 1 ? x.stride(-2) : x.size(-1); }

// Confined to one thread; throws what libtorch throws.
class MatrixProducts {
 public:
  virtual ~MatrixProducts() = default;
  // Whether there is an algorithm for it: at some sizes the library has none, and at many the
  // table.
  virtual bool Takes(const MatrixProduct& product) = 0;
  // [..., N], on libtorch's current stream. The first call of a size that is not `tuned` tries
  // algorithms, unless a graph is being recorded: then, and where none may be tried, the library's
  // own choice runs.
  virtual at::Tensor Run(const MatrixProduct& product) = 0;
};

// Null where libreel_torch_cuda.so does not lie beside the library of kernels that the process has
// opened.
std::unique_ptr<MatrixProducts> MakeMatrixProducts(at::Device device);

}  // namespace reel::model
