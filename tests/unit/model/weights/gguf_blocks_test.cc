// SPDX-License-Identifier: Apache-2.0
#include "model/weights/gguf_blocks.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/weights/weight_set.h"
#include "model/weights/widen.h"

namespace reel::model {
namespace {

std::string Golden(const std::string& name) {
  return std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/gguf/" + name;
}

class Blocks : public ::testing::TestWithParam<TensorType> {};

// Zeros of both signs, subnormal and greatest scales are among them.
TEST_P(Blocks, HaveTheBitsThatTheReferenceGivesThem) {
  const auto golden = WeightSet::OpenFile(Golden("blocks.safetensors"));
  ASSERT_TRUE(golden.ok()) << golden.status();
  const std::string name(NameOf(GetParam()));
  const StoredTensor* const blocks = golden->Find(name + ".blocks");
  const StoredTensor* const expected = golden->Find(name + ".values");
  ASSERT_TRUE(blocks != nullptr && expected != nullptr);
  EXPECT_EQ(blocks->entry->shape[1], BytesOf(GetParam()));
  std::vector<float> values(expected->bytes().size() / sizeof(float));
  ASSERT_EQ(static_cast<int64_t>(values.size()),
            blocks->entry->shape[0] * BlockElementsOf(GetParam()));
  WidenBlocks(GetParam(), blocks->bytes().data(), absl::MakeSpan(values));
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(std::memcmp(&values[i], expected->bytes().data() + i * sizeof(float), sizeof(float)),
              0)
        << "value " << i << ": " << values[i];
  }
}

INSTANTIATE_TEST_SUITE_P(All, Blocks,
                         ::testing::Values(TensorType::kQ4_0, TensorType::kQ4_1, TensorType::kQ5_0,
                                           TensorType::kQ5_1, TensorType::kQ8_0, TensorType::kQ2K,
                                           TensorType::kQ3K, TensorType::kQ4K, TensorType::kQ5K,
                                           TensorType::kQ6K, TensorType::kIq4Nl,
                                           TensorType::kIq4Xs),
                         [](const auto& test) { return std::string(NameOf(test.param)); });

TEST(Blocks, OfAFileOfTheReferencesWriterAreWidened) {
  const auto file = WeightSet::OpenFile(Golden("small.gguf"));
  const auto golden = WeightSet::OpenFile(Golden("blocks.safetensors"));
  ASSERT_TRUE(file.ok() && golden.ok()) << file.status() << golden.status();
  EXPECT_EQ(file->Metadata("general.architecture"), "ltxv");
  EXPECT_EQ(file->tensors().size(), 4u);
  EXPECT_EQ(file->Find("plain")->entry->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(file->Find("half")->type(), TensorType::kF16);
  EXPECT_EQ(file->Find("conv.weight")->entry->shape, (std::vector<int64_t>{4, 2, 1, 2, 2}));
  const StoredTensor& coded = *file->Find("coded");
  EXPECT_EQ(coded.entry->shape, (std::vector<int64_t>{2, 256}));
  ASSERT_TRUE(HasCodes(coded));
  std::vector<float> second(256);
  Widen(coded, 256, absl::MakeSpan(second));
  EXPECT_EQ(
      std::memcmp(second.data(), golden->Find("Q4_K.values")->bytes().data() + sizeof(float) * 256,
                  sizeof(float) * 256),
      0);
}

}  // namespace
}  // namespace reel::model
