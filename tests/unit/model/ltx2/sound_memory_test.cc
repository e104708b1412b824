// SPDX-License-Identifier: Apache-2.0
// Sound in pieces: the peak of memory does not grow with the clip as the work does.
#include <cstdio>

#include "gtest/gtest.h"
#include "tests/unit/model/bridge/counting_allocator.h"
#include "tests/unit/model/ltx/tiny_folder.h"
#include "tests/unit/model/ltx2/sound_fixture.h"

namespace reel::model::ltx2 {
namespace {

class SoundMemory : public ::testing::Test {
 protected:
  // What `make` holds at most beyond its result.
  template <typename Make>
  int64_t PeakOf(const char* what, Make&& make) {
    int64_t result = 0;
    const int64_t peak = counting_.PeakOf([&] { result = static_cast<int64_t>(make().nbytes()); });
    std::printf("%s: %.2f MiB beyond a result of %.2f MiB\n", what,
                static_cast<double>(peak - result) / (1 << 20),
                static_cast<double>(result) / (1 << 20));
    return peak - result;
  }

  // From the weights on: oneDNN gives back what it has by whatever allocator there is by then.
  CountingAllocator& counting_ = CountingAllocator::Get();
  const c10::InferenceMode no_gradients_;
};

TEST_F(SoundMemory, OfSpectraIsThatOfAPiece) {
  const auto vae = LoadAudioVae(at::kFloat);
  const at::Tensor tokens = ltx::Draw(1, {1, 800, 8});
  const int64_t pieces = PeakOf("spectrum in pieces", [&] { return vae->Decode(tokens, 50); });
  const int64_t whole = PeakOf("spectrum whole", [&] { return vae->Decode(tokens); });
  EXPECT_LT(pieces, whole / 4);
}

TEST_F(SoundMemory, OfWavesIsThatOfAPieceAndTheFirstWave) {
  const auto vocoder = LoadVocoder("vocoder_extended");
  const at::Tensor spectrum = ltx::Draw(1, {1, 2, 800, 16});
  const int64_t pieces = PeakOf("wave in pieces", [&] { return (*vocoder)(spectrum, 50); });
  const int64_t whole = PeakOf("wave whole", [&] { return (*vocoder)(spectrum); });
  EXPECT_LT(pieces, whole / 2);
}

}  // namespace
}  // namespace reel::model::ltx2
