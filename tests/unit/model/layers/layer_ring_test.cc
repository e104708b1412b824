// SPDX-License-Identifier: Apache-2.0
// Layers that pass through a ring, on a lane whose copies arrive as late as they may, and on the
// device under test.
#include "model/layers/layer_ring.h"

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_plan.h"
#include "kernels/dispatch/kernel_timer.h"
#include "model/bridge/torch_guard.h"
#include "model/run_stats.h"
#include "tests/unit/model/bridge/device_test.h"

namespace reel::model {
namespace {

constexpr size_t kSlots = 3;
constexpr int64_t kSlotBytes = 512;

struct Counts {
  int copies = 0, awaited_all = 0;
};

// A copy arrives when it is awaited; before that and after its release a slot has no numbers.
class LateLane final : public CopyLane {
 public:
  explicit LateLane(Counts& counts) : counts_(counts), pending_(kSlots), in_use_(kSlots) {}

  at::Tensor HostBytes(int64_t bytes) override { return at::empty({bytes}, at::kByte); }
  void Copy(size_t slot, const at::Tensor& from, const at::Tensor& to) override {
    EXPECT_FALSE(in_use_[slot]) << "a slot is overwritten while it is in use";
    EXPECT_EQ(from.nbytes(), to.nbytes());
    Poison(to);
    pending_[slot] = {from, to};
    ++counts_.copies;
  }
  void Await(size_t slot) override {
    Arrive(slot);
    in_use_[slot] = true;
  }
  void Release(size_t slot) override { in_use_[slot] = false; }
  void AwaitAll() override {
    ++counts_.awaited_all;
    for (size_t slot = 0; slot < pending_.size(); ++slot) Arrive(slot);
  }
  void ForgetReleases() override {}

 private:
  static void Poison(const at::Tensor& bytes) { bytes.fill_(255); }  // NaN
  void Arrive(size_t slot) {
    auto& [from, to] = pending_[slot];
    if (from.defined()) to.copy_(from);
    pending_[slot] = {};
  }

  Counts& counts_;
  std::vector<std::pair<at::Tensor, at::Tensor>> pending_;
  std::vector<bool> in_use_;
};

// A vector of fp32 and one of fp16.
struct Layer {
  at::Tensor wide, narrow;

  LayerTensors tensors() {
    return [this](const TensorVisitor& visit) {
      visit(wide);
      visit(narrow);
    };
  }
  bool Is(double value) const {
    return wide.eq(value).all().item<bool>() && narrow.eq(value).all().item<bool>();
  }
};

Layer LayerOf(double value, at::Device device = at::kCPU) {
  const auto options = at::TensorOptions(device);
  return {at::full({8, 3}, value, options.dtype(at::kFloat)),
          at::full({5}, value, options.dtype(at::kHalf))};
}

class LayerRingTest : public ::testing::Test {
 protected:
  LayerRingTest()
      : ring_(std::make_shared<LayerRing>(std::make_unique<LateLane>(counts_), at::kCPU, kSlots,
                                          kSlotBytes)) {}

  // A network of layers whose values are their numbers, from `first` on.
  std::vector<Layer> Add(LayerPlaces& places, int count, bool (*is_streamed)(int), int first = 0) {
    std::vector<Layer> layers;
    for (int i = 0; i < count; ++i) {
      Layer& layer = layers.emplace_back(LayerOf(first + i));
      if (is_streamed(i)) {
        places.AddStreamed(layer.tensors());
      } else {
        places.AddResident();
      }
    }
    return layers;
  }
  static void Walk(const LayerPlaces& places, const std::vector<Layer>& layers, size_t begin,
                   size_t end, int first = 0) {
    for (size_t i = begin; i < end; ++i) {
      const LayerPlaces::Use use(places, i, end);
      EXPECT_TRUE(layers[i].Is(first + static_cast<int>(i))) << i;
    }
  }

  const c10::InferenceMode no_gradients_;
  Counts counts_;
  std::shared_ptr<LayerRing> ring_;
};

bool All(int) { return true; }
bool Odd(int i) { return i % 2 == 1; }
bool None(int) { return false; }

TEST_F(LayerRingTest, GivesEachLayerItsOwnValuesWhileItIsInUse) {
  for (const auto streamed : {All, Odd, None}) {
    LayerPlaces places(ring_);
    const std::vector<Layer> layers = Add(places, 8, streamed);
    for (int walk = 0; walk < 2; ++walk) Walk(places, layers, 0, layers.size());
  }
}

TEST_F(LayerRingTest, KeepsTypesAndShapes) {
  LayerPlaces places(ring_);
  const std::vector<Layer> layers = Add(places, 1, All);
  EXPECT_EQ(layers[0].wide.sizes(), (std::vector<int64_t>{8, 3}));
  EXPECT_EQ(layers[0].wide.scalar_type(), at::kFloat);
  EXPECT_EQ(layers[0].narrow.scalar_type(), at::kHalf);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(layers[0].narrow.data_ptr()) -
                reinterpret_cast<uintptr_t>(layers[0].wide.data_ptr()),
            static_cast<uintptr_t>(kLayerAlignment));
}

TEST_F(LayerRingTest, KeepsTheOrderOfChannels) {
  LayerPlaces places(ring_);
  const at::Tensor filter = at::arange(48, at::kFloat).view({2, 3, 2, 2, 2});
  Layer layer = {filter.contiguous(at::MemoryFormat::ChannelsLast3d), filter.slice(1, 0, 1)};
  places.AddStreamed(layer.tensors());
  const LayerPlaces::Use use(places, 0, 1);
  EXPECT_TRUE(layer.wide.is_contiguous(at::MemoryFormat::ChannelsLast3d));
  EXPECT_TRUE(layer.wide.equal(filter));
  EXPECT_TRUE(layer.narrow.equal(filter.slice(1, 0, 1)));
}

TEST_F(LayerRingTest, HoldsItsSlotsAloneHoweverManyLayersThereAre) {
  LayerPlaces places(ring_);
  Add(places, 20, All);
  EXPECT_EQ(ring_->device_bytes(), static_cast<int64_t>(kSlots) * kSlotBytes);
  EXPECT_EQ(ring_->host_bytes(), 20 * kSlotBytes);
  EXPECT_EQ(places.streamed(), 20u);
}

TEST_F(LayerRingTest, CopiesEachLayerOncePerWalkAndNoneBehindItsEnd) {
  LayerPlaces places(ring_);
  const std::vector<Layer> layers = Add(places, 8, Odd);
  Walk(places, layers, 0, 8);
  EXPECT_EQ(counts_.copies, 4);
  EXPECT_EQ(ring_->copied_bytes(), 4 * kSlotBytes);
  ring_->Settle();
  Walk(places, layers, 0, 2);
  EXPECT_EQ(counts_.copies, 5);
  // What is still there is not copied again.
  Walk(places, layers, 0, 2);
  EXPECT_EQ(counts_.copies, 5);
}

TEST_F(LayerRingTest, BeginsToCopyWhileResidentLayersRun) {
  LayerPlaces places(ring_);
  const std::vector<Layer> layers = Add(places, 8, Odd);
  const LayerPlaces::Use use(places, 0, 8);
  EXPECT_EQ(counts_.copies, static_cast<int>(kSlots));
}

TEST_F(LayerRingTest, ServesWalksThatTakeTurns) {
  LayerPlaces places(ring_), other_places(ring_);
  const std::vector<Layer> layers = Add(places, 6, All), others = Add(other_places, 5, All, 100);
  for (size_t i = 0; i < layers.size(); ++i) {
    {
      const LayerPlaces::Use use(places, i, layers.size());
      EXPECT_TRUE(layers[i].Is(static_cast<int>(i))) << i;
    }
    Walk(other_places, others, 0, i % 5 + 1, 100);
    Walk(places, layers, 0, i, 0);
  }
}

TEST_F(LayerRingTest, AwaitsWhatIsUnderWayBeforeACallThatIsReplayed) {
  LayerPlaces places(ring_);
  const std::vector<Layer> layers = Add(places, 6, All);
  {
    const LayerPlaces::Use use(places, 0, 6);
    EXPECT_TRUE(layers[0].Is(0));
  }
  EXPECT_EQ(counts_.copies, 3);
  places.Settle();
  EXPECT_EQ(counts_.awaited_all, 1);
  // Nothing is under way, and nothing of before is taken for known.
  places.Settle();
  EXPECT_EQ(counts_.awaited_all, 1);
  Walk(places, layers, 1, 3);
  EXPECT_EQ(counts_.copies, 5);
}

// Remembers what was started, and whether it was ended.
class RecordingTimer final : public kernels::KernelTimer {
 public:
  void Start(std::string_view op, std::string_view variant, kernels::DeviceStream) override {
    EXPECT_FALSE(std::exchange(runs_, true));
    EXPECT_EQ(op, kWeightsOp);
    EXPECT_EQ(variant, kStreamVariant);
  }
  void Stop(kernels::DeviceStream) override {
    EXPECT_TRUE(std::exchange(runs_, false));
    ++waits;
  }
  std::vector<kernels::VariantTime> Take() override { return {}; }

  int waits = 0;

 private:
  bool runs_ = false;
};

TEST_F(LayerRingTest, HasWaitsForWhatStreamsTimedWhereCallsAreTimed) {
  const kernels::KernelPlan plan;
  kernels::KernelCounters counters;
  RecordingTimer timer;
  kernels::Execution run = {plan, counters, &timer, {}};
  LayerPlaces places(ring_);
  const std::vector<Layer> layers = Add(places, 8, Odd);
  const auto walk = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const LayerPlaces::Use use(places, i, end, &run);
    }
  };
  walk(0, 8);
  EXPECT_EQ(timer.waits, 8);
  walk(0, 1);
  EXPECT_EQ(timer.waits, 8) << "nothing of this walk streams";
  run.timer = nullptr;
  walk(0, 8);
  EXPECT_EQ(timer.waits, 8);
}

TEST_F(LayerRingTest, RefusesALayerThatIsLargerThanASlot) {
  LayerPlaces places(ring_);
  Layer large = {at::zeros({kSlotBytes}), at::zeros({1})};
  EXPECT_THROW(places.AddStreamed(large.tensors()), std::exception);
}

TEST_F(LayerRingTest, IsNotNeededByALayerOnTheDevice) {
  const LayerPlaces places;
  const LayerPlaces::Use use(places, 0, 8);
  EXPECT_FALSE(places.streams());
}

// Long kernels on slots of some megabytes, so that a copy that does not wait is seen.
class LayerRingOfDevice : public DeviceTest {};

TEST_F(LayerRingOfDevice, NeverOverwritesWhatAKernelStillReads) {
  const c10::InferenceMode no_gradients;
  const int64_t side = device_.is_cuda() ? 2048 : 64;
  constexpr int kLayers = 7, kWalks = 5;
  const auto ring = LayerRing::Make(device_, kSlots, side * side * 4);
  ASSERT_NE(ring, nullptr);
  LayerPlaces places(ring);
  std::vector<at::Tensor> weights;
  weights.reserve(kLayers);
  for (int i = 0; i < kLayers; ++i) {
    at::Tensor& weight = weights.emplace_back(
        at::full({side, side}, i + 1.0, at::TensorOptions(device_).dtype(at::kFloat)));
    places.AddStreamed([&weight](const TensorVisitor& visit) { visit(weight); });
  }
  const at::Tensor ones = at::ones({side, side}, weights[0].options());
  for (int walk = 0; walk < kWalks; ++walk) {
    std::vector<at::Tensor> sums;
    for (int i = 0; i < kLayers; ++i) {
      const LayerPlaces::Use use(places, static_cast<size_t>(i), kLayers);
      at::Tensor x = ones;
      for (int again = 0; again < 4; ++again) x = at::minimum(x.matmul(weights[i]), weights[i]);
      sums.push_back(x);
    }
    for (int i = 0; i < kLayers; ++i) {
      EXPECT_TRUE(sums[i].eq(i + 1.0).all().item<bool>()) << walk << " " << i;
    }
  }
}

}  // namespace
}  // namespace reel::model
