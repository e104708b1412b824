// SPDX-License-Identifier: Apache-2.0
#include "model/adapters/add_adapters.h"

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/base/digest/sha256.h"
#include "tests/unit/model/adapters/example_adapter.h"

namespace reel::model {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A transformer and connectors of one layer each, and files of adapters for them.
class AddAdaptersTest : public ::testing::Test {
 protected:
  AddAdaptersTest()
      : transformer_(Part("transformer", std::string(kQuery) + ".weight")),
        connectors_(Part("connectors", "text_proj_in.weight")) {}

  WeightSet Part(const std::string& file, const std::string& weight) const {
    return *WeightSet::OpenFile(folder_.Write(
        file + ".safetensors", SafetensorsOf({{weight, {kOut, kIn}}, {"norm.weight", {kIn}}})));
  }
  std::string Write(const std::string& name, const std::vector<TypedTensor>& tensors) const {
    return folder_.Write(name, SafetensorsOfTypes(tensors));
  }
  std::string Query(const std::string& name) const { return Write(name, PairOf(kQuery)); }
  absl::StatusOr<std::vector<FixedAdapter>> Add() {
    const std::vector<AdaptedPart> parts = {{&transformer_, ""}, {&connectors_, "connectors."}};
    return AddAdapters(options_, AdapterFamily::kLtx2, parts);
  }
  std::string Refusal() {
    const absl::Status status = Add().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_TRUE(Added(transformer_, kQuery).empty()) << "a refusal left a changed part";
    return std::string(status.message());
  }
  static std::vector<double> Added(const WeightSet& part, const std::string& layer) {
    std::vector<double> scales;
    for (const LowRankProduct& product : part.Find(layer + ".weight")->added) {
      scales.push_back(product.scale);
    }
    return scales;
  }

  const reel::testing::TempFolder folder_;
  WeightSet transformer_, connectors_;
  LoadOptions options_;
};

TEST_F(AddAdaptersTest, AddNothingWhereThereAreNone) {
  const auto added = Add();
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_TRUE(added->empty());
  EXPECT_TRUE(Added(transformer_, kQuery).empty());
}

TEST_F(AddAdaptersTest, AddProductsInOrderOfNames) {
  options_.adapters = {{"c", Query("1"), 3}, {"a", Query("2"), 0.5}, {"b", Query("3"), -2}};
  const auto added = Add();
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_THAT(Added(transformer_, kQuery), ElementsAre(0.5, -2, 3));
  ASSERT_EQ(added->size(), 3U);
  EXPECT_EQ((*added)[0].name, "a");
  EXPECT_EQ((*added)[2].name, "c");
}

TEST_F(AddAdaptersTest, MultiplyTheFilesScaleByTheGivenOne) {
  std::vector<TypedTensor> tensors = PairOf(kQuery);
  tensors.push_back({std::string(kQuery) + ".alpha", "F32", {}, BytesOfFloats({3})});
  options_.adapters = {{"a", Write("a", tensors), 0.5}};
  ASSERT_TRUE(Add().ok());
  EXPECT_THAT(Added(transformer_, kQuery), ElementsAre(0.75));  // 0.5 * 3 / 2
}

TEST_F(AddAdaptersTest, RefuseOneThatWantsAReferenceClipOfEachRequest) {
  options_.adapters = {
      {"a",
       folder_.Write("a",
                     SafetensorsOfTypes(PairOf(kQuery), {{"reference_downscale_factor", "1"}})),
       1}};
  EXPECT_THAT(Refusal(),
              AllOf(HasSubstr("/a"), HasSubstr("reference clip"), HasSubstr("adapter_ranks")));
}

TEST_F(AddAdaptersTest, ReachTheConnectorsToo) {
  std::vector<TypedTensor> tensors = PairOf("diffusion_model." + std::string(kQuery));
  for (const TypedTensor& tensor : PairOf("text_embedding_projection.aggregate_embed")) {
    tensors.push_back(tensor);
  }
  options_.adapters = {{"a", Write("a", tensors), 2}};
  ASSERT_TRUE(Add().ok());
  EXPECT_THAT(Added(transformer_, kQuery), ElementsAre(2));
  EXPECT_THAT(Added(connectors_, "text_proj_in"), ElementsAre(2));
}

TEST_F(AddAdaptersTest, TellSumsAndIdleLayersAndNoPaths) {
  std::vector<TypedTensor> tensors = PairOf(kQuery);
  tensors[1].bytes = BytesOfFloats(std::vector<float>(kOut * kRank, 0));
  options_.adapters = {{"a", Write("a", tensors), 2}};
  const auto added = Add();
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_THAT(*added, ElementsAre(FixedAdapter{"a", "", 2, Sha256Hex(folder_.Read("a")), 1}));
}

TEST_F(AddAdaptersTest, LeaveOutThoseOfScaleZero) {
  options_.adapters = {{"a", Query("a"), 0}};
  const auto added = Add();
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_TRUE(added->empty());
  EXPECT_TRUE(Added(transformer_, kQuery).empty());
}

TEST_F(AddAdaptersTest, RefuseAnotherContentThanTheWantedOne) {
  const std::string file = Query("a");
  options_.adapters = {{"a", file, 1, Sha256Hex(folder_.Read("a"))}};
  EXPECT_TRUE(Add().ok());
  transformer_ = Part("transformer", std::string(kQuery) + ".weight");
  options_.adapters[0].sha256 = std::string(64, 'a');
  EXPECT_THAT(Refusal(), AllOf(HasSubstr(file), HasSubstr("its SHA-256 is")));
}

TEST_F(AddAdaptersTest, RefuseTooManyTwiceAndWildScales) {
  options_.adapters = {{"a", Query("a"), 1}, {"b", folder_.path() + "/./a", 1}};
  EXPECT_THAT(Refusal(), HasSubstr("given twice"));
  for (const double scale : {4.5, -4.5, static_cast<double>(NAN), 1e308}) {
    options_.adapters = {{"a", Query("a"), scale}};
    EXPECT_THAT(Refusal(), HasSubstr("its scale is")) << scale;
  }
  options_.adapters.clear();
  for (int i = 0; i < 9; ++i) {
    options_.adapters.push_back({"a", Query(std::to_string(i)), 1});
  }
  EXPECT_THAT(Refusal(), HasSubstr("at most 8 adapters"));
}

TEST_F(AddAdaptersTest, RefuseAnyThatTheModelCannotHave) {
  options_.adapters = {{"a", Query("a"), 1}, {"b", Write("b", PairOf("no.such.layer")), 1}};
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("no such layer"), HasSubstr("no.such.layer.lora_A")));
  options_.adapters = {{"b", folder_.path() + "/none", 1}};
  EXPECT_EQ(Add().status().code(), absl::StatusCode::kNotFound);
}

TEST_F(AddAdaptersTest, RefuseRandomWeights) {
  options_.adapters = {{"a", Query("a"), 1}};
  options_.random_weights = 1;
  EXPECT_THAT(Refusal(), HasSubstr("random weights"));
}

TEST(SumWithAdapters, DependsOnEachFileAndItsScale) {
  const FixedAdapter one = {"a", "", 1, std::string(64, 'a')};
  FixedAdapter other = one, scaled = one;
  other.sha256[0] = 'b';
  scaled.scale = 0.5;
  const std::string files(64, 'f');
  EXPECT_EQ(SumWithAdapters(files, {}), files);
  EXPECT_EQ(SumWithAdapters("", {one}), "");
  const std::string with = SumWithAdapters(files, {one});
  EXPECT_EQ(with.size(), 64U);
  EXPECT_NE(with, files);
  EXPECT_NE(SumWithAdapters(files, {other}), with);
  EXPECT_NE(SumWithAdapters(files, {scaled}), with);
  EXPECT_NE(SumWithAdapters(files, {one, other}), SumWithAdapters(files, {other, one}));
  EXPECT_EQ(SumWithAdapters(files, {one}), with);
}

}  // namespace
}  // namespace reel::model
