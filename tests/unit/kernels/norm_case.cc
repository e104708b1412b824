// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/norm_case.h"

#include <cmath>
#include <utility>

namespace reel::kernels {

NormCase::NormCase(NormKind kind, double eps, Dtype dtype, std::vector<int64_t> sizes,
                   Layout layout)
    : kind_(kind), eps_(eps), dtype_(dtype), sizes_(std::move(sizes)), layout_(layout) {
  AddRows("x");
}

HostTensor& NormCase::AddRows(const std::string& name) {
  HostTensor& tensor = tensors_.try_emplace(name, dtype_, sizes_, layout_).first->second;
  tensor.FillNormal(tensors_.size());
  return tensor;
}

void NormCase::MakeOutCodes(Dtype codes, std::optional<double> fixed_scale) {
  tensors_.erase("out");
  tensors_.try_emplace("out", codes, sizes_, layout_);
  fixed_scale_ = fixed_scale;
  if (fixed_scale.has_value()) return;
  const std::vector<int64_t> leading(sizes_.begin(), sizes_.end() - 1);
  tensors_.try_emplace("out_scale", Dtype::kF32, leading, layout_);
}

HostTensor& NormCase::AddVector(const std::string& name, Dtype dtype, std::vector<int64_t> sizes) {
  HostTensor& tensor = tensors_.try_emplace(name, dtype, std::move(sizes)).first->second;
  tensor.FillNormal(100 + tensors_.size());
  return tensor;
}

std::optional<TensorView> NormCase::Maybe(ForcedRun& run, const std::string& name) {
  if (!Has(name)) return std::nullopt;
  return Use(run, name);
}

int64_t NormCase::num_rows() const {
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < sizes_.size(); ++d) rows *= sizes_[d];
  return rows;
}

std::vector<double> NormCase::RowOf(const std::string& name, int64_t row, double absent) const {
  std::vector<double> values(static_cast<size_t>(width()), absent);
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) return values;
  const TensorView view = found->second.view();
  int64_t vector_row = view.rank == static_cast<int>(sizes_.size()) ? row : 0;
  if (sizes_.size() == 3 && (view.rank == 2 || (view.rank == 3 && view.size(1) == 1))) {
    vector_row = row / sizes_[1];
  }
  for (int64_t i = 0; i < width(); ++i) {
    values[static_cast<size_t>(i)] = found->second.Get(vector_row * width() + i);
  }
  return values;
}

NormCase::Terms NormCase::Biased(const std::string& name, int64_t row, double absent) const {
  Terms terms{RowOf(name, row, absent), RowOf(name + "_bias", row, 0)};
  for (size_t i = 0; i < terms.values.size(); ++i) {
    const double value = terms.values[i];
    terms.values[i] += terms.magnitudes[i];
    terms.magnitudes[i] = std::abs(value) + std::abs(terms.magnitudes[i]);
  }
  return terms;
}

NormCase::Terms NormCase::Combined(int64_t row) const {
  Terms v{RowOf("x", row, 0), {}};
  const std::vector<double> residual = RowOf("residual", row, 0);
  const Terms gate = Biased("residual_gate", row, 1);
  for (size_t i = 0; i < v.values.size(); ++i) {
    v.magnitudes.push_back(std::abs(v.values[i]) + std::abs(residual[i]) * gate.magnitudes[i]);
    v.values[i] += residual[i] * gate.values[i];
  }
  return v;
}

NormCase::Terms NormCase::Normed(int64_t row, const Terms& v) const {
  if (kind_ == NormKind::kNone) return v;
  const auto count = static_cast<double>(width());
  double mean = 0;
  double mean_terms = 0;
  if (kind_ == NormKind::kLayer) {
    for (const double value : v.values) mean += value / count;
    for (const double magnitude : v.magnitudes) mean_terms += magnitude / count;
  }
  double squares = 0;
  for (const double value : v.values) squares += (value - mean) * (value - mean);
  const double rstd = 1 / std::sqrt(squares / count + eps_);
  const std::vector<double> weight = RowOf("weight", row, 1);
  const std::vector<double> bias = RowOf("bias", row, 0);
  Terms normed;
  for (size_t i = 0; i < weight.size(); ++i) {
    normed.values.push_back((v.values[i] - mean) * rstd * weight[i] + bias[i]);
    normed.magnitudes.push_back((v.magnitudes[i] + mean_terms) * rstd * std::abs(weight[i]) +
                                std::abs(bias[i]));
  }
  return normed;
}

void NormCase::ReferenceRow(int64_t row, Expected& sum, Expected& out) const {
  const Terms v = Combined(row);
  const Terms normed = Normed(row, v);
  const Terms scale = Biased("scale", row, 0);
  const Terms shift = Biased("shift", row, 0);
  const Terms gate = Biased("gate", row, 1);
  for (size_t i = 0; i < v.values.size(); ++i) {
    sum.Add(v.values[i], v.magnitudes[i]);
    const double factor =
        Has("scale_bias") ? 1 + scale.magnitudes[i] : std::abs(1 + scale.values[i]);
    out.Add((normed.values[i] * (1 + scale.values[i]) + shift.values[i]) * gate.values[i],
            (normed.magnitudes[i] * factor + shift.magnitudes[i]) * gate.magnitudes[i]);
  }
}

std::vector<Expected> NormCase::Reference() const {
  Expected sum{nullptr, {}, {}};
  Expected out{nullptr, {}, {}};
  for (int64_t row = 0; row < num_rows(); ++row) ReferenceRow(row, sum, out);
  std::vector<Expected> expected;
  if (Has("sum")) {
    sum.output = &tensors_.at("sum");
    expected.push_back(std::move(sum));
  }
  if (Has("out")) {
    out.output = &tensors_.at("out");
    if (Has("out_scale")) out.scale = &tensors_.at("out_scale");
    out.fixed_scale = fixed_scale_.value_or(0);
    expected.push_back(std::move(out));
  }
  return expected;
}

}  // namespace reel::kernels
