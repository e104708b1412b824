// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "kernels/base/digest/sha256.h"
#include "server/front/configured_models.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::front {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class AdapterRegistryTest : public ::testing::Test {
 protected:
  AdapterRegistryTest() {
    config::v1::Model& model = *config_.add_models();
    model.set_name("m");
    model.set_adapter_ranks(64);
    config_.add_models()->set_name("without-room");
  }
  // A pair of this rank for one layer.
  static std::string File(int64_t rank, const nlohmann::json& metadata = nullptr) {
    const std::vector<float> ones(static_cast<size_t>(rank) * 4, 1.0f);
    return model::SafetensorsOfTypes(
        {{"proj_in.lora_A.weight", "F32", {rank, 4}, model::BytesOfFloats(ones)},
         {"proj_in.lora_B.weight", "F32", {4, rank}, model::BytesOfFloats(ones)}},
        metadata);
  }
  config::v1::Adapter& Add(const std::string& name, const std::string& bytes) {
    config::v1::Adapter& adapter = *config_.add_adapters();
    adapter.set_name(name);
    adapter.set_file(folder_.Write(name, bytes));
    adapter.set_max_scale(1.5);
    return adapter;
  }
  std::string Refusal() {
    const auto read = registry_.Read(config_);
    EXPECT_EQ(read.status().code(), absl::StatusCode::kFailedPrecondition) << read.status();
    return std::string(read.status().message());
  }

  const testing::TempFolder folder_;
  config::v1::ServerConfig config_;
  AdapterRegistry registry_;
};

TEST_F(AdapterRegistryTest, SaysWhatFilesAreAndForWhom) {
  config::v1::Adapter& grain = Add("grain", File(3));
  grain.add_models("m");
  grain.add_tenants("acme");
  const auto read = registry_.Read(config_);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(*read, ElementsAre(RegisteredAdapter{{.name = "grain",
                                                    .sha256 = Sha256Hex(File(3)),
                                                    .path = grain.file(),
                                                    .rank = 3,
                                                    .bytes = static_cast<int64_t>(File(3).size()),
                                                    .max_scale = 1.5,
                                                    .tenants = {"acme"},
                                                    .parts = {"video"}},
                                                   {"m"}}));
}

TEST_F(AdapterRegistryTest, SaysWhichWantAReferenceClip) {
  Add("pose", File(1, {{"reference_downscale_factor", "2"}}));
  Add("grain", File(1));
  const auto read = registry_.Read(config_);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ((*read)[0].offer.reference, (model::ReferenceScale{2, 1}));
  EXPECT_EQ((*read)[1].offer.reference, std::nullopt);
}

// Fixed adapters of other models are the workers' affair.
TEST_F(AdapterRegistryTest, ReadsOnlyWhatRequestsMayName) {
  Add("fixed", "no adapter").add_models("without-room");
  Add("grain", File(1));
  const auto read = registry_.Read(config_);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_THAT(*read, SizeIs(1));
  EXPECT_EQ((*read)[0].offer.name, "grain");
}

TEST_F(AdapterRegistryTest, RefusesWhatIsNoAdapterOrAnotherFile) {
  Add("grain", File(1)).set_sha256(std::string(64, '0'));
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("'grain'"), HasSubstr(Sha256Hex(File(1)))));
  config_.clear_adapters();
  Add("broken", "PK\x03\x04");
  EXPECT_THAT(Refusal(), HasSubstr("'broken'"));
  config_.clear_adapters();
  std::filesystem::remove(Add("gone", File(1)).file());
  EXPECT_THAT(Refusal(), HasSubstr("'gone'"));
}

TEST_F(AdapterRegistryTest, ReadsAFileAgainOnlyOnceItIsAnother) {
  config::v1::Adapter& grain = Add("grain", File(1));
  const auto sum = [&] { return (*registry_.Read(config_))[0].offer.sha256; };
  EXPECT_EQ(sum(), Sha256Hex(File(1)));
  folder_.Write("new", File(2));
  std::filesystem::rename(folder_.File("new"), grain.file());
  EXPECT_EQ(sum(), Sha256Hex(File(2)));
  // Its scale and tenants are the configuration's, whatever is known of the file.
  grain.set_max_scale(3);
  EXPECT_EQ((*registry_.Read(config_))[0].offer.max_scale, 3);
}

TEST_F(AdapterRegistryTest, SaysWhatPartsFilesChangeAndWhatTheConfigurationSaysOfThem) {
  const std::vector<float> ones(4, 1.0f);
  std::vector<model::TypedTensor> tensors;
  for (const char* layer : {"audio_ff.net.2", "audio_to_video_attn.to_q", "attn1.to_q"}) {
    const std::string stem = std::string("transformer_blocks.0.") + layer;
    tensors.push_back({stem + ".lora_A.weight", "F32", {1, 4}, model::BytesOfFloats(ones)});
    tensors.push_back({stem + ".lora_B.weight", "F32", {4, 1}, model::BytesOfFloats(ones)});
  }
  Add("plain", File(1));
  config::v1::Adapter& style = Add("style", model::SafetensorsOfTypes(tensors));
  style.set_default_scale(-0.5);
  style.set_description("grain of 16 mm");
  const auto read = registry_.Read(config_);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_THAT(*read, SizeIs(2));
  EXPECT_THAT((*read)[0].offer.parts, ElementsAre("video"));
  EXPECT_EQ((*read)[0].offer.default_scale, 1);
  EXPECT_THAT((*read)[1].offer.parts, ElementsAre("video", "audio", "audio_to_video"));
  EXPECT_EQ((*read)[1].offer.default_scale, -0.5);
  EXPECT_EQ((*read)[1].offer.description, "grain of 16 mm");
}

}  // namespace
}  // namespace reel::front
