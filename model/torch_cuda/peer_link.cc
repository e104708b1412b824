// SPDX-License-Identifier: Apache-2.0
#include "model/torch_cuda/peer_link.h"

#include <ATen/cuda/PeerToPeerAccess.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>

#include <array>
#include <atomic>
#include <vector>

namespace reel::model {
namespace {

// Exchanges whose buffers exist at the same time.
constexpr size_t kPlaces = 2;

bool Reaches(int from, int to) {
  return at::cuda::get_p2p_access(static_cast<c10::DeviceIndex>(from),
                                  static_cast<c10::DeviceIndex>(to));
}

// The words of a rank's memory: counts given to each rank, counts heard from each, and blocks.
constexpr int kGiven = 0, kHeard = kernels::kMostGivers, kDone = 2 * kernels::kMostGivers,
              kWords = kDone + 1;

class PeerLink final : public RankLink {
 public:
  PeerLink(std::vector<int> devices, GiveToRanks give)
      : devices_(std::move(devices)),
        give_(give),
        given_up_(at::zeros({1}, at::TensorOptions(at::kInt).pinned_memory(true))) {
    ranks_.resize(devices_.size());
    for (size_t rank = 0; rank < devices_.size(); ++rank) {
      ranks_[rank].words = at::zeros({kWords}, OnDevice(rank, at::kInt));
    }
    Await();
  }

  bool Reserve(int64_t bytes) override {
    if (bytes <= bytes_) return false;
    Forget();
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      for (at::Tensor& place : ranks_[rank].places) {
        place = at::empty({bytes}, OnDevice(rank, at::kByte));
      }
    }
    bytes_ = bytes;
    return true;
  }

  int64_t bytes() const override { return static_cast<int64_t>(kPlaces) * bytes_; }

  void Forget() override {
    if (bytes_ == 0) return;
    Await();  // freed memory may still be used by other devices' work
    for (Rank& rank : ranks_) rank.places = {};
    bytes_ = 0;
  }

  at::Tensor OfAll(const Turn& turn, const at::Tensor& k, const at::Tensor& v) override {
    const int64_t rows = k.size(0), own = k.size(1), width = k.size(2);
    const auto bytes = static_cast<int64_t>(k.element_size());
    kernels::RankGive give{};
    give.rows = rows;
    give.tokens = own;
    give.token_bytes = width * bytes;
    give.to_row = turn.tokens * 2 * give.token_bytes;
    give.ranks = turn.ranks;
    give.given_up = reinterpret_cast<const uint32_t*>(given_up_.data_ptr());
    SetSource(give, 0, k);
    SetSource(give, 1, v);
    for (int i = 0; i < turn.ranks; ++i) SetRank(give, turn, i);
    give.done = WordOf(turn.rank, kDone);
    const c10::DeviceIndex device =
        static_cast<c10::DeviceIndex>(devices_[static_cast<size_t>(turn.rank)]);
    const int32_t error = give_(give, c10::cuda::getCurrentCUDAStream(device).stream());
    TORCH_CHECK(error == cudaSuccess, "tokens could not be given to other ranks: ",
                cudaGetErrorName(static_cast<cudaError_t>(error)));
    return PlaceOf(turn.rank, turn)
        .slice(0, 0, rows * give.to_row)
        .view(k.scalar_type())
        .view({rows, turn.tokens, 2, width});
  }

  void GiveUp() override {
    std::atomic_ref<int>(*given_up_.data_ptr<int>()).store(1, std::memory_order_release);
  }

  void Renew() override {
    Await();
    for (Rank& rank : ranks_) rank.words.zero_();
    Await();
    std::atomic_ref<int>(*given_up_.data_ptr<int>()).store(0, std::memory_order_release);
  }

 private:
  struct Rank {
    at::Tensor words;
    std::array<at::Tensor, kPlaces> places;
  };

  at::TensorOptions OnDevice(size_t rank, at::ScalarType type) const {
    return at::TensorOptions(type).device(
        at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(devices_[rank])));
  }
  void Await() const {
    for (const int device : devices_) {
      const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device));
      c10::cuda::device_synchronize();
    }
  }
  const at::Tensor& PlaceOf(int rank, const Turn& turn) const {
    return ranks_[static_cast<size_t>(rank)].places[static_cast<size_t>(turn.number) % kPlaces];
  }
  uint32_t* WordOf(int rank, int word) const {
    return static_cast<uint32_t*>(ranks_[static_cast<size_t>(rank)].words.data_ptr()) + word;
  }
  static void SetSource(kernels::RankGive& give, int which, const at::Tensor& x) {
    const auto bytes = static_cast<int64_t>(x.element_size());
    TORCH_CHECK(x.stride(2) == 1 &&
                    reinterpret_cast<uintptr_t>(x.data_ptr()) % kernels::kGivenAlignment == 0 &&
                    give.token_bytes % kernels::kGivenAlignment == 0 &&
                    x.stride(0) * bytes % kernels::kGivenAlignment == 0 &&
                    x.stride(1) * bytes % kernels::kGivenAlignment == 0,
                "tokens of a group do not lie at words of 16 bytes");
    give.from[which] = x.data_ptr();
    give.from_row[which] = x.stride(0) * bytes;
    give.from_token[which] = x.stride(1) * bytes;
  }
  // Each starts with its neighbour, so that not all write to the same rank at once.
  void SetRank(kernels::RankGive& give, const Turn& turn, int i) const {
    const int other = turn.first_rank + (turn.rank - turn.first_rank + i) % turn.ranks;
    give.to[i] =
        static_cast<char*>(PlaceOf(other, turn).data_ptr()) + turn.first * 2 * give.token_bytes;
    if (other == turn.rank) return;
    give.told[i] = WordOf(other, kHeard + turn.rank);
    give.heard[i] = WordOf(turn.rank, kHeard + other);
    give.given[i] = WordOf(turn.rank, kGiven + other);
  }

  const std::vector<int> devices_;
  const GiveToRanks give_;
  const at::Tensor given_up_;
  std::vector<Rank> ranks_;
  int64_t bytes_ = 0;
};

}  // namespace
}  // namespace reel::model

extern "C" __attribute__((visibility("default"))) reel::model::RankLink* reel_peer_link(
    const int* devices, int count, reel::model::GiveToRanks give) {
  using reel::model::Reaches;
  if (count > reel::kernels::kMostGivers) return nullptr;
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < count; ++j) {
      if (devices[i] == devices[j] ? i != j : !Reaches(devices[i], devices[j])) return nullptr;
    }
  }
  return new reel::model::PeerLink(std::vector<int>(devices, devices + count), give);
}
