// SPDX-License-Identifier: Apache-2.0
#include "model/weights/weight_set.h"

#include <cstring>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

float FirstFloat(const StoredTensor& tensor) {
  float value = 0;
  std::memcpy(&value, tensor.bytes().data(), sizeof(value));
  return value;
}

constexpr char kStem[] = "diffusion_pytorch_model";

TEST(WeightSet, ReadsASingleFile) {
  const reel::testing::TempFolder folder;
  folder.Write("diffusion_pytorch_model.safetensors",
               SafetensorsOf({{"a", {2, 3}}, {"b", {4}}}, R"({"config":"{}"})"));
  const auto set = WeightSet::OpenFolder(folder.path(), kStem);
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_NE(set->Find("b"), nullptr);
  EXPECT_EQ(FirstFloat(*set->Find("b")), 6);
  EXPECT_EQ(set->Find("c"), nullptr);
  EXPECT_EQ(set->Metadata("config"), "{}");
}

TEST(WeightSet, ReadsShardsThroughTheirIndexWhereThereIsOne) {
  const reel::testing::TempFolder folder;
  folder.Write("diffusion_pytorch_model.safetensors", SafetensorsOf({{"stale", {1}}}));
  folder.Write("m-1.safetensors", SafetensorsOf({{"a", {2}}, {"b", {1}}}));
  folder.Write("m-2.safetensors", SafetensorsOf({{"c", {3}}}));
  folder.Write("diffusion_pytorch_model.safetensors.index.json",
               R"({"metadata":{"total_size":24},"weight_map":{"a":"m-1.safetensors",
                   "b":"m-1.safetensors","c":"m-2.safetensors"}})");
  const auto set = WeightSet::OpenFolder(folder.path(), kStem);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->tensors().size(), 3u);
  EXPECT_EQ(FirstFloat(*set->Find("b")), 2);
}

TEST(WeightSet, NamesTheMissingFile) {
  const reel::testing::TempFolder folder;
  const auto set = WeightSet::OpenFolder(folder.path(), kStem);
  EXPECT_EQ(set.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(set.status().message()),
              HasSubstr("diffusion_pytorch_model.safetensors"));
}

TEST(WeightSet, NamesFileAndTensorOfABrokenOne) {
  const reel::testing::TempFolder folder;
  const std::string path = folder.Write("x.safetensors", SafetensorsOf({{"a", {2}}}) + "tail");
  const auto set = WeightSet::OpenFile(path);
  EXPECT_THAT(std::string(set.status().message()),
              AllOf(HasSubstr("x.safetensors"), HasSubstr("last tensor: 4 bytes")));
}

class BadIndex : public ::testing::TestWithParam<const char*> {};

TEST_P(BadIndex, IsRefused) {
  const reel::testing::TempFolder folder;
  folder.Write("m.safetensors", SafetensorsOf({{"a", {2}}}));
  folder.Write("diffusion_pytorch_model.safetensors.index.json", GetParam());
  const auto set = WeightSet::OpenFolder(folder.path(), kStem);
  EXPECT_EQ(set.status().code(), absl::StatusCode::kFailedPrecondition) << set.status();
}

INSTANTIATE_TEST_SUITE_P(
    All, BadIndex,
    ::testing::Values("", "[]", "{", "{}", R"({"weight_map":[]})", R"({"weight_map":{"a":1}})",
                      R"({"weight_map":{"a":"../m.safetensors"}})",
                      R"({"weight_map":{"a":"/etc/passwd"}})", R"({"weight_map":{"a":""}})",
                      R"({"weight_map":{"a":".."}})", R"({"weight_map":{"b":"m.safetensors"}})"));

TEST(WeightSet, RefusesAnIndexOfAMissingShard) {
  const reel::testing::TempFolder folder;
  folder.Write("diffusion_pytorch_model.safetensors.index.json",
               R"({"weight_map":{"a":"gone.safetensors"}})");
  const auto set = WeightSet::OpenFolder(folder.path(), kStem);
  EXPECT_EQ(set.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(set.status().message()), HasSubstr("gone.safetensors"));
}

TEST(WeightSet, OpensRegularFilesOnly) {
  const reel::testing::TempFolder folder;
  EXPECT_EQ(WeightSet::OpenFile(folder.path()).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(WeightSet::OpenFile(folder.Write("empty", "")).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(WeightSet, OpensNoPicklesWhateverTheyAreCalled) {
  const reel::testing::TempFolder folder;
  const std::string pickle = "\x80\x02}q and so on", zip = "PK\x03\x04 and so on";
  for (const std::string& bytes : {pickle, zip}) {
    const auto set = WeightSet::OpenFile(folder.Write("model.safetensors", bytes));
    EXPECT_EQ(set.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(set.status().message()), HasSubstr("pickled"));
  }
}

TEST(WeightSet, RenamesOnlyWhatHasAName) {
  const reel::testing::TempFolder folder;
  const auto set =
      WeightSet::OpenFile(folder.Write("f", SafetensorsOf({{"x.a", {1}}, {"y", {1}}})));
  ASSERT_TRUE(set.ok());
  const auto renamed = set->Renamed([](const std::string& name) -> std::optional<std::string> {
    if (name == "y") return std::nullopt;
    return name.substr(2);
  });
  ASSERT_TRUE(renamed.ok());
  EXPECT_EQ(renamed->tensors().size(), 1u);
  EXPECT_NE(renamed->Find("a"), nullptr);
  const auto same = set->Renamed([](const std::string&) { return std::optional("one"); });
  EXPECT_EQ(same.status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace reel::model
