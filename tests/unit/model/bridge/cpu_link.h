// SPDX-License-Identifier: Apache-2.0
// A link between ranks on CPUs: it copies and waits where devices write to each other and wait.
#pragma once

#include <ATen/ops/empty.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "kernels/base/mutex.h"
#include "model/bridge/rank_link.h"

namespace reel::model {

class CpuLink final : public RankLink {
 public:
  explicit CpuLink(int ranks) : places_(static_cast<size_t>(ranks)) {
    for (auto& row : given_) row.fill(0);
  }

  int exchanges() const { return exchanges_; }  // of all ranks
  int renewals() const { return renewals_; }

  bool Reserve(int64_t bytes) override {
    if (bytes <= bytes_) return false;
    for (auto& of_rank : places_) {
      for (at::Tensor& place : of_rank) place = at::empty({bytes}, at::kByte);
    }
    bytes_ = bytes;
    return true;
  }
  int64_t bytes() const override { return 2 * bytes_; }
  void Forget() override {
    for (auto& of_rank : places_) of_rank = {};
    bytes_ = 0;
  }

  at::Tensor OfAll(const Turn& turn, const at::Tensor& k, const at::Tensor& v) override {
    ++exchanges_;
    for (int to = turn.first_rank; to < turn.first_rank + turn.ranks; ++to) {
      const at::Tensor own = At(to, turn, k).slice(1, turn.first, turn.first + k.size(1));
      own.select(2, 0).copy_(k);
      own.select(2, 1).copy_(v);
    }
    MutexLock lock(mutex_);
    for (int to = turn.first_rank; to < turn.first_rank + turn.ranks; ++to) {
      ++Given(turn.rank, to);
    }
    changed_.NotifyAll();
    for (int from = turn.first_rank; from < turn.first_rank + turn.ranks; ++from) {
      while (Given(from, turn.rank) < Given(turn.rank, from) && !given_up_) changed_.Wait(mutex_);
    }
    return At(turn.rank, turn, k);
  }

  void GiveUp() override {
    MutexLock lock(mutex_);
    given_up_ = true;
    changed_.NotifyAll();
  }
  void Renew() override {
    ++renewals_;
    MutexLock lock(mutex_);
    given_up_ = false;
    for (auto& row : given_) row.fill(0);
  }

 private:
  static constexpr size_t kMost = 4;

  at::Tensor At(int rank, const Turn& turn, const at::Tensor& k) const {
    const at::Tensor& place =
        places_[static_cast<size_t>(rank)][static_cast<size_t>(turn.number % 2)];
    const int64_t bytes =
        k.size(0) * turn.tokens * 2 * k.size(2) * static_cast<int64_t>(k.element_size());
    return place.slice(0, 0, bytes)
        .view(k.scalar_type())
        .view({k.size(0), turn.tokens, 2, k.size(2)});
  }
  int& Given(int from, int to) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return given_[static_cast<size_t>(from)][static_cast<size_t>(to)];
  }

  std::vector<std::array<at::Tensor, 2>> places_;  // by rank
  int64_t bytes_ = 0;
  std::atomic<int> exchanges_ = 0, renewals_ = 0;
  Mutex mutex_;
  CondVar changed_;
  std::array<std::array<int, kMost>, kMost> given_ ABSL_GUARDED_BY(mutex_);
  bool given_up_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace reel::model
