// SPDX-License-Identifier: Apache-2.0
// Memory of a load with adapters: beside the weight that stays it does not grow with the weight.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/layers/merged_weight.h"
#include "model/layers/stored_values.h"
#include "tests/unit/model/bridge/counting_allocator.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model {
namespace {

constexpr int64_t kSide = 4096, kRankOfAdapter = 32;

// A file of BF16 zeros: the weight, and the product for it.
std::shared_ptr<const WeightFile> ZerosOf(const reel::testing::TempFolder& folder, int64_t rows) {
  const auto zeros = [](const char* name, int64_t out, int64_t in) {
    return TypedTensor{
        name, "BF16", {out, in}, std::string(static_cast<size_t>(out * in * 2), '\0')};
  };
  const std::string path =
      folder.Write("zeros.safetensors",
                   SafetensorsOfTypes({zeros("a", rows, kSide), zeros("b", kRankOfAdapter, kSide),
                                       zeros("c", rows, kRankOfAdapter)}));
  return std::make_shared<const WeightFile>(*WeightFile::Open(path));
}

TEST(MergedMemory, BesideTheWeightDoesNotGrowWithIt) {
  CountingAllocator& counting = CountingAllocator::Get();
  const c10::InferenceMode no_gradients;
  const auto beside = [&](int64_t rows) {
    const reel::testing::TempFolder folder;
    const auto file = ZerosOf(folder, rows);
    const std::vector<TensorEntry>& entries = file->header().tensors;
    const StoredTensor stored = {
        .file = file, .entry = &entries[0], .added = {{file, &entries[1], &entries[2], 1}}};
    at::Tensor merged;
    const int64_t peak =
        counting.PeakOf([&] { merged = *ReadMerged(stored, at::TensorOptions(at::kBFloat16)); });
    return peak - static_cast<int64_t>(merged.nbytes());
  };
  const int64_t pieces = kReadAtOnce / kSide;  // rows that are read at once
  const int64_t two = beside(2 * pieces), six = beside(6 * pieces);
  std::printf("beside the weight: %.1f MiB for 64 MiB, %.1f MiB for 192 MiB\n",
              static_cast<double>(two) / (1 << 20), static_cast<double>(six) / (1 << 20));
  EXPECT_LT(static_cast<double>(six), 1.05 * static_cast<double>(two));
  EXPECT_LT(two, 4 * kReadAtOnce * static_cast<int64_t>(sizeof(float)));
}

}  // namespace
}  // namespace reel::model
