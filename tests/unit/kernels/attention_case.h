// SPDX-License-Identifier: Apache-2.0
// A call of attention or cross_attention and what it should give, in naive fp64.
#pragma once

#include <vector>

#include "kernels/attention/attention.h"
#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {

struct AttentionSizes {
  int64_t batch = 2, queries = 5, keys = 7, heads = 3, width = 8;
};

// By the definition: all scores of all queries first, then their softmax, then the sums.
struct AttentionCase : OpCase {
  AttentionCase(Dtype dtype, const AttentionSizes& of, Layout layout = Layout::kContiguous,
                const std::vector<int64_t>& bias_sizes = {});

  AttentionArgs Args(ForcedRun& run);
  absl::Status Call(ForcedRun& run) override;
  std::vector<Expected> Reference() const override;

  AttentionSizes sizes;
  HostTensor q, k, v, out, bias, lengths, q_scale;
  bool has_bias, has_lengths = false, has_q_scale = false;
  bool cross = false;  // calls CrossAttention
  double scale = 0;

 private:
  double BiasAt(int64_t b, int64_t s, int64_t n, int64_t l) const;
  int64_t KeysOf(int64_t b) const;
  double Score(int64_t b, int64_t s, int64_t n, int64_t l) const;
  void AddRow(int64_t b, int64_t s, int64_t n, Expected& expected) const;
};

}  // namespace reel::kernels
