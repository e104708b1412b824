// SPDX-License-Identifier: Apache-2.0
// What the decode in pieces is for: a clip's frames at a peak of memory that does not grow with it.
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include "gtest/gtest.h"
#include "kernels/base/mutex.h"
#include "model/ltx/vae_decoder.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx {
namespace {

// libtorch's own, with a count of the bytes that are out. One for the whole process, and never
// taken away: tensors that it made may live to its end.
class CountingAllocator final : public c10::Allocator {
 public:
  static CountingAllocator& Get() {
    static CountingAllocator& instance = *new CountingAllocator();
    return instance;
  }

  c10::DataPtr allocate(size_t size) override {
    void* const data = inner_->raw_allocate(size);
    MutexLock lock(mutex_);
    sizes_[data] = static_cast<int64_t>(size);
    held_ += static_cast<int64_t>(size);
    peak_ = std::max(peak_, held_);
    return {data, data, &Free, at::kCPU};
  }
  void copy_data(void* to, const void* from, size_t size) const override {
    inner_->copy_data(to, from, size);
  }
  c10::DeleterFnPtr raw_deleter() const override { return &Free; }

  // The most that `run` holds at once beyond what is held when it begins.
  template <typename Run>
  int64_t PeakOf(Run&& run) {
    const int64_t before = Reset();
    run();
    MutexLock lock(mutex_);
    return peak_ - before;
  }

 private:
  CountingAllocator() : inner_(c10::GetCPUAllocator()) { c10::SetCPUAllocator(this, 100); }

  int64_t Reset() {
    MutexLock lock(mutex_);
    return peak_ = held_;
  }

  static void Free(void* data) {
    CountingAllocator& counting = Get();
    {
      MutexLock lock(counting.mutex_);
      const auto found = counting.sizes_.find(data);
      counting.held_ -= found->second;
      counting.sizes_.erase(found);
    }
    counting.inner_->raw_deallocate(data);
  }

  c10::Allocator* const inner_;
  Mutex mutex_;
  std::map<void*, int64_t> sizes_ ABSL_GUARDED_BY(mutex_);
  int64_t held_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t peak_ ABSL_GUARDED_BY(mutex_) = 0;
};

class DecodeMemory : public ::testing::TestWithParam<std::string> {};

TEST_P(DecodeMemory, DoesNotGrowWithTheClip) {
  // From the weights on: oneDNN gives back what it has by whatever allocator there is by then.
  CountingAllocator& counting = CountingAllocator::Get();
  const c10::InferenceMode no_gradients;
  const TinyFolder folder(GetParam());
  const auto config = ReadVaeConfig(*ReadJsonFile(folder.path() + "/vae/config.json"), "vae");
  const auto stored = WeightSet::OpenFolder(folder.path() + "/vae", "diffusion_pytorch_model");
  Weights weights(*stored, at::kFloat, at::kCPU);
  const VaeDecoder decoder(weights, *config);
  TestRun test;
  // Frames are looked at and dropped, as a sink does it.
  const auto peak = [&](int64_t latent_frames, int64_t piece) {
    const at::Tensor latents = Draw(1, {1, 8, latent_frames, 2, 3});
    return counting.PeakOf([&] {
      at::Generator noise = at::detail::createCPUGenerator(7);
      const Ops ops(test.run);
      const FrameSourcePtr source = decoder.Decode(ops, latents, {{piece, piece}, 0.05, noise});
      for (bool last = false; !last;) last = source->Next(ops).last;
    });
  };
  const int64_t streamed = peak(33, 1), twice = peak(65, 1), whole = peak(33, 33);
  std::printf("%s: 257 frames whole %.1f MiB, in pieces %.1f MiB; 513 in pieces %.1f MiB\n",
              GetParam().c_str(), static_cast<double>(whole) / (1 << 20),
              static_cast<double>(streamed) / (1 << 20), static_cast<double>(twice) / (1 << 20));
  EXPECT_LT(streamed, whole / 4);
  EXPECT_LT(static_cast<double>(twice), 1.1 * static_cast<double>(streamed));
}

INSTANTIATE_TEST_SUITE_P(Generations, DecodeMemory, ::testing::Values("0.9.0", "0.9.1", "0.9.5"));

}  // namespace
}  // namespace reel::model::ltx
