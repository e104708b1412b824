// SPDX-License-Identifier: Apache-2.0
// The oracle: fp64 throughout, the true maximum, one rounding.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/attention/attention_launch.h"
#include "kernels/base/float_types.h"

namespace reel::kernels {
namespace {

struct Place {
  int64_t batch, row, head;
};

int64_t OffsetOf(const AttentionOperand& operand, const Place& place) {
  return place.batch * operand.strides[0] + place.row * operand.strides[1] +
         place.head * operand.strides[2];
}

// Reads `count` values along the last dimension.
void Read(const AttentionOperand& operand, const Place& place, std::vector<double>& values) {
  VisitFloating(operand.dtype, [&]<typename T>(T) {
    const T* data = static_cast<const T*>(operand.data) + OffsetOf(operand, place);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<double>(ToFloat(data[static_cast<int64_t>(i) * operand.strides[3]]));
    }
  });
}

void Write(const AttentionOperand& operand, const Place& place, const std::vector<double>& values) {
  VisitFloating(operand.dtype, [&]<typename T>(T) {
    T* data = static_cast<T*>(operand.data) + OffsetOf(operand, place);
    for (size_t i = 0; i < values.size(); ++i) {
      data[static_cast<int64_t>(i) * operand.strides[3]] = RoundTo<T>(values[i]);
    }
  });
}

// Softmax in place; all zero if no score is above minus infinity.
void Softmax(std::vector<double>& scores) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  double largest = kNone;
  for (const double score : scores) {
    if (!(score <= largest)) largest = score;
    if (std::isnan(largest)) break;  // and so is the sum
  }
  double sum = 0;
  for (double& score : scores) {
    score = largest == kNone ? 0 : std::exp(score - largest);
    sum += score;
  }
  if (sum == 0) return;
  for (double& score : scores) score /= sum;
}

class OneQuery {
 public:
  explicit OneQuery(const AttentionParams& params)
      : p_(params), q_(Width()), other_(Width()), out_(Width()) {}

  void Attend(const Place& query) {
    Score(query);
    Softmax(scores_);
    std::fill(out_.begin(), out_.end(), 0.0);
    for (size_t key = 0; key < static_cast<size_t>(KeysOf(query)); ++key) {
      Read(p_.v, {query.batch, static_cast<int64_t>(key), query.head}, other_);
      for (size_t i = 0; i < out_.size(); ++i) out_[i] += scores_[key] * other_[i];
    }
    if (HasBefore()) AddBefore(query);
    Write(p_.out, query, out_);
  }

 private:
  size_t Width() const { return static_cast<size_t>(p_.width); }

  int64_t KeysOf(const Place& query) const {
    if (p_.key_lengths == nullptr) return p_.keys;
    return std::clamp<int64_t>(p_.key_lengths[query.batch * p_.key_lengths_stride], 0, p_.keys);
  }

  // The earlier keys count as one more key: its value is their output, its score their log-sum.
  bool HasBefore() const { return p_.before.data != nullptr; }
  void AddBefore(const Place& query) {
    Read(p_.before, query, other_);
    if (scores_.back() == 0) return;
    for (size_t i = 0; i < out_.size(); ++i) out_[i] += scores_.back() * other_[i];
  }

  void Score(const Place& query) {
    const int64_t keys = KeysOf(query);
    scores_.assign(static_cast<size_t>(keys), 0.0);
    if (p_.bias.data != nullptr) Read(p_.bias, query, scores_);
    std::vector<double> factor = {1};
    if (p_.q_scale.data != nullptr) Read(p_.q_scale, query, factor);
    Read(p_.q, query, q_);
    for (int64_t key = 0; key < keys; ++key) {
      Read(p_.k, {query.batch, key, query.head}, other_);
      double dot = 0;
      for (size_t i = 0; i < q_.size(); ++i) dot += q_[i] * other_[i];
      scores_[static_cast<size_t>(key)] += static_cast<double>(p_.scale) * factor[0] * dot;
    }
    if (!HasBefore()) return;
    std::vector<double> sum = {0};
    Read(p_.log_sums, query, sum);
    scores_.push_back(sum[0]);
  }

  const AttentionParams& p_;
  std::vector<double> q_, other_, out_, scores_;
};

}  // namespace

void AttentionLoops(const AttentionParams& params) {
  OneQuery one(params);
  for (int64_t batch = 0; batch < params.batch; ++batch) {
    for (int64_t row = 0; row < params.queries; ++row) {
      for (int64_t head = 0; head < params.heads; ++head) one.Attend({batch, row, head});
    }
  }
}

}  // namespace reel::kernels
