// SPDX-License-Identifier: Apache-2.0
#include "model/layers/layer_ring.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/dispatch/kernel_timer.h"
#include "model/bridge/torch_guard.h"
#include "model/run_stats.h"

namespace reel::model {
namespace {

// The part of a buffer that begins `offset` bytes behind its beginning, as a tensor like `like`,
// which has no gaps.
at::Tensor ViewOf(const at::Tensor& buffer, int64_t offset, const at::Tensor& like) {
  const at::Tensor flat =
      buffer.narrow(0, offset, static_cast<int64_t>(like.nbytes())).view(like.scalar_type());
  return flat.as_strided(like.sizes(), like.strides(), flat.storage_offset());
}

// Times the work that is put on the stream while this lives, if `run` has a timer.
class TimedWait {
 public:
  explicit TimedWait(const kernels::Execution* run)
      : run_(run != nullptr && run->timer != nullptr ? run : nullptr) {
    if (run_ != nullptr) run_->timer->Start(kWeightsOp, kStreamVariant, run_->stream);
  }
  ~TimedWait() {
    if (run_ != nullptr) run_->timer->Stop(run_->stream);
  }
  TimedWait(const TimedWait&) = delete;
  TimedWait& operator=(const TimedWait&) = delete;

 private:
  const kernels::Execution* const run_;
};

// In the order of its channels, which kernels are chosen by.
at::Tensor WithoutGaps(const at::Tensor& tensor) {
  return tensor.is_non_overlapping_and_dense() ? tensor : tensor.contiguous();
}

}  // namespace

std::shared_ptr<LayerRing> LayerRing::Make(at::Device device, size_t slots, int64_t slot_bytes) {
  auto lane = MakeCopyLane(device, slots);
  if (lane == nullptr) return nullptr;
  return std::make_shared<LayerRing>(std::move(lane), device, slots, slot_bytes);
}

LayerRing::LayerRing(std::unique_ptr<CopyLane> lane, at::Device device, size_t slots,
                     int64_t slot_bytes)
    : lane_(std::move(lane)), slot_bytes_(slot_bytes), contents_(slots), awaited_(slots, true) {
  for (size_t i = 0; i < slots; ++i) {
    slots_.push_back(at::empty({slot_bytes}, at::TensorOptions(device).dtype(at::kByte)));
  }
}

size_t LayerRing::Add(const LayerTensors& layer) {
  const int64_t bytes = LayerBytes(layer);
  if (bytes > slot_bytes_) {
    ThrowIfError(absl::InternalError(
        absl::StrCat("a layer of ", bytes, " bytes does not fit the ring's ", slot_bytes_)));
  }
  const size_t number = layers_.size();
  // A load that has failed adds layers without tensors.
  const at::Tensor host = lane_->HostBytes(std::max(bytes, kLayerAlignment)).narrow(0, 0, bytes);
  int64_t offset = 0;
  layer([&](at::Tensor& tensor) {
    const at::Tensor held = WithoutGaps(tensor);
    tensor = ViewOf(slots_[SlotOf(number)], offset, held);
    ViewOf(host, offset, held).copy_(held);
    offset += AlignedBytes(held);
  });
  layers_.push_back(host);
  host_bytes_ += bytes;
  return number;
}

void LayerRing::Fill(size_t layer) {
  const size_t slot = SlotOf(layer);
  if (contents_[slot] == layer) return;
  const at::Tensor& from = layers_[layer];
  contents_[slot].reset();  // until the copy is asked for
  lane_->Copy(slot, from, slots_[slot].narrow(0, 0, from.numel()));
  contents_[slot] = layer;
  awaited_[slot] = false;
  copied_bytes_ += from.numel();
}

void LayerRing::Prefetch(size_t first, size_t end) {
  const size_t ahead = std::min(end, first + slots_.size());
  for (size_t next = first; next < ahead; ++next) Fill(next);
}

void LayerRing::Enter(size_t layer, size_t end) {
  Prefetch(layer, end);
  lane_->Await(SlotOf(layer));
  awaited_[SlotOf(layer)] = true;
}

void LayerRing::Leave(size_t layer) { lane_->Release(SlotOf(layer)); }

void LayerRing::Settle() {
  const bool all_awaited = std::find(awaited_.begin(), awaited_.end(), false) == awaited_.end();
  if (all_awaited) {
    lane_->ForgetReleases();
  } else {
    lane_->AwaitAll();
  }
  contents_.assign(slots_.size(), std::nullopt);
  awaited_.assign(slots_.size(), true);
}

size_t LayerPlaces::streamed() const {
  return static_cast<size_t>(std::count_if(places_.begin(), places_.end(),
                                           [](const auto& place) { return place.has_value(); }));
}

LayerPlaces::Use::Use(const LayerPlaces& places, size_t layer, size_t end,
                      const kernels::Execution* run) {
  if (places.ring_ == nullptr) return;
  const std::vector<std::optional<size_t>>& all = places.places_;
  // The network's layers follow each other in the ring.
  std::optional<size_t> first;
  size_t count = 0;
  for (size_t i = layer; i < end; ++i) {
    if (!all[i].has_value()) continue;
    if (!first.has_value()) first = all[i];
    ++count;
  }
  if (!first.has_value()) return;
  const TimedWait wait(run);
  if (!all[layer].has_value()) {
    places.ring_->Prefetch(*first, *first + count);
    return;
  }
  ring_ = places.ring_.get();
  in_ring_ = *first;
  ring_->Enter(in_ring_, in_ring_ + count);
}

LayerPlaces::Use::~Use() {
  if (ring_ == nullptr) return;
  try {
    ring_->Leave(in_ring_);
  } catch (const std::exception&) {
    // A device that cannot take the event is lost, which its next call says.
  }
}

}  // namespace reel::model
