// SPDX-License-Identifier: Apache-2.0
#include "model/model_part.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reel::model {
namespace {

TEST(ModelPart, IsFoundByItsName) {
  for (const ModelPart part :
       {ModelPart::kTransformer, ModelPart::kVae, ModelPart::kAudioVae, ModelPart::kTextEncoder,
        ModelPart::kConnectors, ModelPart::kUpsampler}) {
    EXPECT_EQ(PartNamed(NameOf(part)), part);
    EXPECT_THAT(PartNames(), ::testing::HasSubstr(std::string(NameOf(part))));
  }
  EXPECT_EQ(NameOf(ModelPart::kAudioVae), "audio_vae");
  EXPECT_EQ(PartNamed("unet"), std::nullopt);
  EXPECT_EQ(PartNamed(""), std::nullopt);
}

}  // namespace
}  // namespace reel::model
