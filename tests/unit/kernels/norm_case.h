// SPDX-License-Identifier: Apache-2.0
// A call of the fused norms: named tensors, and the formula of kernels/rows/fused_norm.h in naive
// fp64 from the values that the operator sees.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {

enum class NormKind { kNone, kRms, kLayer };

class NormCase : public OpCase {
 public:
  // x [B,S,D], or fewer leading dims where an operator takes them.
  NormCase(NormKind kind, double eps, Dtype dtype, std::vector<int64_t> sizes,
           Layout layout = Layout::kContiguous);

  // Tensors like x, of the layout of the case: "x", "residual", "sum", "out".
  HostTensor& AddRows(const std::string& name);
  // An "out" in e4m3 or int8 with "out_scale", one scale for every row, or with this one for all.
  void MakeOutCodes(Dtype codes, std::optional<double> fixed_scale = std::nullopt);
  // Vectors: "weight", "bias", "scale", "shift", "gate", "residual_gate", and the same with
  // "_bias".
  HostTensor& AddVector(const std::string& name, Dtype dtype, std::vector<int64_t> sizes);

  bool Has(const std::string& name) const { return tensors_.count(name) > 0; }
  HostTensor& operator[](const std::string& name) { return tensors_.at(name); }
  std::optional<TensorView> Maybe(ForcedRun& run, const std::string& name);
  TensorView Use(ForcedRun& run, const std::string& name) { return run.Use(tensors_.at(name)); }

  int64_t width() const { return sizes_.back(); }
  int64_t num_rows() const;
  const std::vector<int64_t>& sizes() const { return sizes_; }
  double eps() const { return eps_; }
  std::optional<double> fixed_scale() const { return fixed_scale_; }

  std::vector<Expected> Reference() const override;

 private:
  // Values of a row with the sums of the magnitudes of what was added for them.
  struct Terms {
    std::vector<double> values;
    std::vector<double> magnitudes;
  };
  std::vector<double> RowOf(const std::string& name, int64_t row, double absent) const;
  Terms Biased(const std::string& name, int64_t row, double absent) const;
  Terms Combined(int64_t row) const;
  Terms Normed(int64_t row, const Terms& v) const;
  void ReferenceRow(int64_t row, Expected& sum, Expected& out) const;

  NormKind kind_;
  double eps_;
  Dtype dtype_;
  std::vector<int64_t> sizes_;
  Layout layout_;
  std::map<std::string, HostTensor> tensors_;
  std::optional<double> fixed_scale_;
};

// The forms of a vector beside x [B,S,D].
inline std::vector<std::vector<int64_t>> VectorForms(const std::vector<int64_t>& x) {
  return {{x[2]}, {x[0], x[2]}, {x[0], 1, x[2]}, {x[0], x[1], x[2]}};
}

}  // namespace reel::kernels
