// SPDX-License-Identifier: Apache-2.0
#include "model/adapting/adapter_shelf.h"

#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/base/digest/sha256.h"
#include "tests/unit/model/adapting/example_room.h"

namespace reel::model {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class AdapterShelfTest : public ::testing::Test {
 protected:
  static std::unique_ptr<AdapterShelf> ShelfOf(int64_t columns,
                                               const at::TensorOptions& options = at::kFloat) {
    auto room = std::make_unique<AdapterRoom>(ExampleRoom(columns, options).room);
    return *AdapterShelf::Of(std::move(room), AdapterFamily::kLtxVideo);
  }
  RequestAdapter Adapter(const std::string& name, uint64_t seed = 1, int64_t rank = 2) const {
    return {name, {}, "", folder_.Write(name, ExampleFile(seed, {kRoomOne}, rank))};
  }
  std::string RefusalOf(AdapterShelf& shelf, const std::vector<RequestAdapter>& wanted) const {
    const absl::Status status = shelf.Take(wanted).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr(folder_.File(""))));
    return std::string(status.message());
  }

  const c10::InferenceMode no_gradients_;
  const reel::testing::TempFolder folder_;
};

TEST_F(AdapterShelfTest, TakesThoseOfARequestInOrderOfNamesWithoutThoseOfScaleZero) {
  const auto shelf = ShelfOf(64);
  RequestAdapter a = Adapter("a", 1), b = Adapter("b", 2), c = Adapter("c", 3);
  a.scale = -0.5;
  c.scale = 0;
  const auto taken = shelf->Take({b, c, a});
  ASSERT_TRUE(taken.ok()) << taken.status();
  ASSERT_EQ(taken->size(), 2U);
  EXPECT_EQ((*taken)[0].scale, -0.5f);
  EXPECT_EQ((*taken)[0].adapter->sha256, Sha256Hex(ExampleFile(1, {kRoomOne}, 2)));
  EXPECT_EQ((*taken)[1].scale, 1.0f);
  EXPECT_EQ((*taken)[0].adapter->columns, 32);
}

TEST_F(AdapterShelfTest, HoldsTheFilesValuesTimesTheFilesScale) {
  const auto shelf = ShelfOf(32);
  const at::Tensor down = Scattered(5, {3, kRoomIn}), up = Scattered(6, {kRoomOut, 3});
  const std::string path = folder_.Write(
      "kohya", SafetensorsOfTypes({MatrixOf("block.to_k.lora_down.weight", down),
                                   MatrixOf("block.to_k.lora_up.weight", up),
                                   {"block.to_k.alpha", "F32", {1}, BytesOfFloats({1.5f})}}));
  const auto taken = shelf->Take({{"kohya", 2, "", path}});
  ASSERT_TRUE(taken.ok()) << taken.status();
  const LoadedAdapter& adapter = *(*taken)[0].adapter;
  ASSERT_EQ(adapter.layers.size(), 1U);
  EXPECT_EQ(shelf->columns().room().layers()[adapter.layers[0].index].name, "block.to_k");
  EXPECT_TRUE(adapter.layers[0].down[0].slice(0, 0, 3).equal(down));
  const at::Tensor made = adapter.layers[0].up.flatten(1);
  EXPECT_TRUE(made.slice(1, 0, 3).equal(up * 0.5));
  EXPECT_EQ(adapter.layers[0].down[0].slice(0, 3).count_nonzero().item<int64_t>(), 0);
  EXPECT_EQ(made.slice(1, 3).count_nonzero().item<int64_t>(), 0);
}

TEST_F(AdapterShelfTest, ReadsAFileOnceHoweverManyAskForIt) {
  const auto shelf = ShelfOf(64);
  RequestAdapter wanted = Adapter("a");
  const auto first = shelf->Take({wanted});
  ASSERT_TRUE(first.ok()) << first.status();
  wanted.sha256 = (*first)[0].adapter->sha256;
  std::filesystem::remove(wanted.path);
  const auto second = shelf->Take({wanted});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ((*second)[0].adapter, (*first)[0].adapter);
  // Without a sum nobody knows that it is the same.
  wanted.sha256.clear();
  EXPECT_THAT(RefusalOf(*shelf, {wanted}), HasSubstr("'a'"));
}

TEST_F(AdapterShelfTest, ForgetsWhatNoJobHolds) {
  const auto shelf = ShelfOf(64);
  auto held = shelf->Take({Adapter("a", 1)});
  const int64_t of_one = shelf->kept_bytes();
  EXPECT_GT(of_one, 0);
  ASSERT_TRUE(shelf->Take({Adapter("b", 2)}).ok());
  EXPECT_EQ(shelf->kept_bytes(), 2 * of_one);
  shelf->Forget();
  EXPECT_EQ(shelf->kept_bytes(), of_one);
  held = AppliedAdapters();
  shelf->Forget();
  EXPECT_EQ(shelf->kept_bytes(), 0);
}

TEST_F(AdapterShelfTest, RefusesByTheAdaptersName) {
  const auto shelf = ShelfOf(64);
  RequestAdapter wrong = Adapter("wrong");
  wrong.sha256 = std::string(64, '0');
  EXPECT_THAT(RefusalOf(*shelf, {wrong}), AllOf(HasSubstr("'wrong'"), HasSubstr("SHA-256")));
  EXPECT_THAT(RefusalOf(*shelf, {{"gone", {}, "", folder_.File("gone")}}), HasSubstr("'gone'"));
  const std::string other =
      folder_.Write("other", ExampleFile(1, {"block.to_out", "text_embedding_projection.q"}, 2));
  EXPECT_THAT(RefusalOf(*shelf, {{"other", {}, "", other}}),
              AllOf(HasSubstr("'other'"), HasSubstr("no such layer")));
  for (const double scale : {4.5, -5.0, std::numeric_limits<double>::quiet_NaN()}) {
    RequestAdapter strong = Adapter("strong");
    strong.scale = scale;
    EXPECT_THAT(RefusalOf(*shelf, {strong}), AllOf(HasSubstr("'strong'"), HasSubstr("-4 to 4")));
  }
  EXPECT_THAT(RefusalOf(*shelf, std::vector<RequestAdapter>(9, Adapter("a"))), HasSubstr("8"));
}

TEST_F(AdapterShelfTest, RefusesMoreRanksThanThereIsRoomFor) {
  const auto shelf = ShelfOf(64);
  EXPECT_THAT(RefusalOf(*shelf, {Adapter("wide", 1, 65)}),
              AllOf(HasSubstr("'wide'"), HasSubstr("65"), HasSubstr("fixed adapter")));
  EXPECT_THAT(RefusalOf(*shelf, {Adapter("a", 1, 33), Adapter("b", 2, 1)}),
              AllOf(HasSubstr("'b'"), HasSubstr("64")));
  EXPECT_TRUE(shelf->Take({Adapter("a", 1, 32), Adapter("b", 2, 1)}).ok());
}

TEST_F(AdapterShelfTest, RefusesValuesThatTheModelsTypeHasNot) {
  const auto shelf = ShelfOf(32, at::kHalf);
  const std::string path = folder_.Write(
      "large",
      SafetensorsOfTypes({MatrixOf("block.to_out.lora_A.weight", at::full({1, kRoomIn}, 1e5f)),
                          MatrixOf("block.to_out.lora_B.weight", at::ones({kRoomOut, 1}))}));
  EXPECT_THAT(RefusalOf(*shelf, {{"large", {}, "", path}}), HasSubstr("not finite"));
}

TEST(AdapterRoomOf, IsOfWholeSlotsOnOneDevice) {
  LoadOptions options;
  EXPECT_EQ(*AdapterRoomOf(options), nullptr);
  options.adapter_ranks = 96;
  EXPECT_EQ((*AdapterRoomOf(options))->columns(), 96);
  for (const int ranks : {-32, 1, 33, 288}) {
    options.adapter_ranks = ranks;
    EXPECT_EQ(AdapterRoomOf(options).status().code(), absl::StatusCode::kFailedPrecondition);
  }
  options.adapter_ranks = 32;
  options.peers = {-1};
  EXPECT_THAT(std::string(AdapterRoomOf(options).status().message()), HasSubstr("group"));
}

TEST(TakeAdapters, OfAModelWithoutRoomAreNone) {
  GenerationSpec spec;
  EXPECT_TRUE(TakeAdapters(nullptr, spec)->empty());
  spec.adapters = {{"style", {}}};
  EXPECT_THAT(std::string(TakeAdapters(nullptr, spec).status().message()),
              AllOf(HasSubstr("'style'"), HasSubstr("adapter_ranks")));
}

}  // namespace
}  // namespace reel::model
