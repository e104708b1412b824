// SPDX-License-Identifier: Apache-2.0
// Calls of the rotations, and what they must give.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/rope/rope.h"
#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {

// q and k with what the rotations of both operators have in common: an angle for (batch, token,
// channel), in fp64, and the channel that it is paired with.
struct RopeCase : OpCase {
  RopeCase(Dtype dtype, const std::vector<int64_t>& q_sizes, const std::vector<int64_t>& k_sizes,
           Layout layout)
      : q(dtype, q_sizes, layout),
        q_out(dtype, q_sizes, layout),
        k(dtype, k_sizes, layout),
        k_out(dtype, k_sizes, layout) {
    q.FillNormal(1);
    k.FillNormal(2);
  }

  struct Pair {
    double angle;
    int64_t partner;
    double sign;  // of the sine's term
  };
  virtual std::optional<Pair> PairOf(bool is_k, int64_t batch, int64_t token,
                                     int64_t channel) const = 0;

  Expected ReferenceOf(bool is_k) const {
    const HostTensor& in = is_k ? k : q;
    Expected expected{is_k ? &k_out : &q_out, {}, {}};
    const TensorView view = in.view();
    for (int64_t i = 0; i < in.size(); ++i) {
      const int64_t channel = i % view.size(3);
      const int64_t token = i / view.size(3) / view.size(2) % view.size(1);
      const int64_t batch = i / view.size(3) / view.size(2) / view.size(1);
      const auto pair = PairOf(is_k, batch, token, channel);
      const double x = ValueOf(is_k, i);
      if (!pair.has_value()) {
        expected.Add(x, x == in.Get(i) ? 0 : std::abs(x));  // a copy is exact
        continue;
      }
      const double other = ValueOf(is_k, i - channel + pair->partner);
      expected.Add(x * std::cos(pair->angle) + pair->sign * other * std::sin(pair->angle),
                   std::abs(x) + std::abs(other));
    }
    return expected;
  }
  std::vector<Expected> Reference() const override {
    return {ReferenceOf(false), ReferenceOf(true)};
  }
  // What is turned.
  virtual double ValueOf(bool is_k, int64_t i) const { return (is_k ? k : q).Get(i); }

  HostTensor q, q_out, k, k_out;
};

struct Form1d {
  bool interleaved = true;
  std::optional<int64_t> rotary_dim = std::nullopt;
  int64_t offset = 0;
  std::optional<Dtype> positions = std::nullopt;
  bool batched_positions = false;
  std::optional<double> norm_eps = std::nullopt;
  bool weights = false;       // with norm_eps
  bool fp32_weights = false;  // else of the rows' type
};

struct Case1d : RopeCase {
  Case1d(const Form1d& use, Dtype dtype, const std::vector<int64_t>& q_sizes,
         const std::vector<int64_t>& k_sizes, Layout layout = Layout::kContiguous)
      : RopeCase(dtype, q_sizes, k_sizes, layout), form(use) {
    for (uint64_t seed = 5; use.weights && seed < 7; ++seed) {
      weights.emplace_back(use.fp32_weights ? Dtype::kF32 : dtype,
                           std::vector<int64_t>{q_sizes[3]});
      weights.back().FillNormal(seed);
    }
    if (!use.positions.has_value()) return;
    positions.emplace_back(*use.positions, PositionSizes(q_sizes));
    positions.emplace_back(*use.positions, PositionSizes(k_sizes));
    positions[0].SetAll([](int64_t i) { return static_cast<double>(i * 4099 % 100000); });
    positions[1].SetAll([](int64_t i) { return static_cast<double>(i * 1031 % 5000); });
  }
  std::vector<int64_t> PositionSizes(const std::vector<int64_t>& sizes) const {
    if (form.batched_positions) return {sizes[0], sizes[1]};
    return {sizes[1]};
  }
  int64_t rotary() const { return form.rotary_dim.value_or(q.view().size(3)); }

  Rope1dArgs Args(ForcedRun& run) {
    Rope1dArgs args;
    args.q = run.Use(q);
    args.q_out = run.Use(q_out);
    args.k = run.Use(k);
    args.k_out = run.Use(k_out);
    if (form.positions.has_value()) {
      args.positions = run.Use(positions[0]);
      args.k_positions = run.Use(positions[1]);
    }
    args.offset = form.offset;
    args.rotary_dim = form.rotary_dim;
    args.interleaved = form.interleaved;
    args.norm_eps = form.norm_eps;
    if (form.weights) {
      args.q_weight = run.Use(weights[0]);
      args.k_weight = run.Use(weights[1]);
    }
    return args;
  }
  // Of its head's rms norm, if it has one.
  double ValueOf(bool is_k, int64_t i) const override {
    const double x = RopeCase::ValueOf(is_k, i);
    if (!form.norm_eps.has_value()) return x;
    const int64_t width = q.view().size(3), begin = i / width * width;
    double squares = 0;
    for (int64_t c = 0; c < width; ++c) {
      squares += std::pow(RopeCase::ValueOf(is_k, begin + c), 2);
    }
    const double normed = x / std::sqrt(squares / static_cast<double>(width) + *form.norm_eps);
    return form.weights ? normed * weights[is_k ? 1 : 0].Get(i - begin) : normed;
  }
  absl::Status Call(ForcedRun& run) override { return Rope1d(Args(run), run.execution()); }

  std::optional<Pair> PairOf(bool is_k, int64_t batch, int64_t token,
                             int64_t channel) const override {
    if (channel >= rotary()) return std::nullopt;
    double position = static_cast<double>(token);
    if (form.positions.has_value()) {
      const HostTensor& given = positions[is_k ? 1 : 0];
      position =
          given.Get(form.batched_positions ? batch * (is_k ? k : q).view().size(1) + token : token);
    }
    const int64_t half = rotary() / 2;
    const int64_t pair = form.interleaved ? channel / 2 : channel % half;
    const bool first = form.interleaved ? channel % 2 == 0 : channel < half;
    const int64_t partner = form.interleaved ? channel ^ 1 : (channel + half) % rotary();
    const double frequency =
        std::pow(10000.0, -2.0 * static_cast<double>(pair) / static_cast<double>(rotary()));
    return Pair{(position + static_cast<double>(form.offset)) * frequency, partner,
                first ? -1.0 : 1.0};
  }

  Form1d form;
  std::vector<HostTensor> positions, weights;
};

}  // namespace reel::kernels
