// SPDX-License-Identifier: Apache-2.0
// Layers that are held in host memory and pass through a few buffers on the device, the next ones
// copied while one is in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/dispatch/execution.h"
#include "model/bridge/copy_lane.h"
#include "model/layers/tensor_visitor.h"

namespace reel::model {

// Networks may share a ring. Used by one thread. Throws what libtorch throws.
class LayerRing {
 public:
  // Null where the device cannot copy beside its work (MakeCopyLane).
  static std::shared_ptr<LayerRing> Make(at::Device device, size_t slots, int64_t slot_bytes);
  LayerRing(std::unique_ptr<CopyLane> lane, at::Device device, size_t slots, int64_t slot_bytes);

  // Moves the layer to the host, and returns its number, one more than the previous layer's. Its
  // tensors become views of a slot, whose contents are the layer's between Enter and Leave alone.
  size_t Add(const LayerTensors& layer);

  // Begins to copy layers from `first` up to `end`, as far as there are slots; none is in use.
  void Prefetch(size_t first, size_t end);
  // The slot holds `layer`. Copies of the next ones, up to `end`, begin. Two walks over layers may
  // take turns between a Leave and an Enter.
  void Enter(size_t layer, size_t end);
  void Leave(size_t layer);

  // Before and after a call of the network that is recorded or replayed: what is copied is awaited,
  // and the contents of slots are no longer known.
  void Settle();

  int64_t host_bytes() const { return host_bytes_; }
  int64_t device_bytes() const { return static_cast<int64_t>(slots_.size()) * slot_bytes_; }
  // So far. Copies of replayed calls are not among them.
  int64_t copied_bytes() const { return copied_bytes_; }

 private:
  void Fill(size_t layer);
  size_t SlotOf(size_t layer) const { return layer % slots_.size(); }

  const std::unique_ptr<CopyLane> lane_;
  const int64_t slot_bytes_;
  std::vector<at::Tensor> slots_;                // uint8
  std::vector<std::optional<size_t>> contents_;  // of slots; unset: not known
  std::vector<bool> awaited_;                    // whether a slot's latest copy was
  std::vector<at::Tensor> layers_;               // on the host
  int64_t host_bytes_ = 0, copied_bytes_ = 0;
};

// Which layers of a network are in a ring, and where.
class LayerPlaces {
 public:
  // All on the device.
  LayerPlaces() = default;
  // `ring` may be null.
  explicit LayerPlaces(std::shared_ptr<LayerRing> ring) : ring_(std::move(ring)) {}

  // The network's next layer; call in order.
  void AddResident() { places_.emplace_back(); }
  void AddStreamed(const LayerTensors& layer) { places_.emplace_back(ring_->Add(layer)); }

  bool has_ring() const { return ring_ != nullptr; }
  bool streams() const { return streamed() > 0; }
  size_t streamed() const;
  void Settle() const {
    if (ring_ != nullptr) ring_->Settle();
  }

  // A layer in use while this lives. The walk will use the layers up to `end`. If `run` has a
  // timer, the wait for streamed weights is timed as the operator kWeightsOp. On a CPU that is the
  // time of the copy.
  class Use {
   public:
    Use(const LayerPlaces& places, size_t layer, size_t end,
        const kernels::Execution* run = nullptr);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    LayerRing* ring_ = nullptr;
    size_t in_ring_ = 0;
  };

 private:
  std::shared_ptr<LayerRing> ring_;
  std::vector<std::optional<size_t>> places_;  // in the ring
};

// The layers of a network, some of which stream. `VisitTensors` of a layer tells its tensors.
template <typename Layer>
class PlacedLayers {
 public:
  explicit PlacedLayers(std::shared_ptr<LayerRing> ring = nullptr) : places_(std::move(ring)) {}

  // The next one, which only streams if there is a ring.
  void Add(Layer layer, bool streams) {
    Layer& added = layers_.emplace_back(std::move(layer));
    const LayerTensors tensors = [&added](const TensorVisitor& visit) {
      VisitTensors(added, visit);
    };
    bytes_.Add(LayerBytes(tensors));
    if (streams && places_.has_ring()) {
      places_.AddStreamed(tensors);
    } else {
      places_.AddResident();
    }
  }

  size_t size() const { return layers_.size(); }
  const Layer& operator[](size_t index) const { return layers_[index]; }
  Layer& operator[](size_t index) { return layers_[index]; }
  auto begin() const { return layers_.begin(); }
  auto end() const { return layers_.end(); }
  const LayerPlaces& places() const { return places_; }
  const StreamableBytes& bytes() const { return bytes_; }

 private:
  std::vector<Layer> layers_;
  LayerPlaces places_;
  StreamableBytes bytes_;
};

}  // namespace reel::model
