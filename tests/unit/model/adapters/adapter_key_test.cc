// SPDX-License-Identifier: Apache-2.0
#include "model/adapters/adapter_key.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reel::model {
namespace {

using ::testing::HasSubstr;

struct KeyCase {
  const char* key;
  const char* stem;
  AdapterHalf half;
  const char* adapter = "";
};

TEST(AdapterKey, KnowsBothHalvesInEverySpelling) {
  using enum AdapterHalf;
  for (const KeyCase& c : {KeyCase{"a.to_q.lora_A.weight", "a.to_q", kDown},
                           {"a.to_q.lora_B.weight", "a.to_q", kUp},
                           {"a.to_q.lora_A.default.weight", "a.to_q", kDown, "default"},
                           {"a.to_q.lora_B.my-style.weight", "a.to_q", kUp, "my-style"},
                           {"a.to_q.lora_A", "a.to_q", kDown},
                           {"a.to_q.lora_B", "a.to_q", kUp},
                           {"lora_unet_a_to_q.lora_down.weight", "lora_unet_a_to_q", kDown},
                           {"lora_unet_a_to_q.lora_up.weight", "lora_unet_a_to_q", kUp},
                           {"lora_unet_a_to_q.alpha", "lora_unet_a_to_q", kAlpha},
                           {"a.to_q.lora.down.weight", "a.to_q", kDown},
                           {"a.to_q.lora.up.weight", "a.to_q", kUp},
                           {"a.to_q_lora.down.weight", "a.to_q", kDown},
                           {"a.processor.to_q_lora.up.weight", "a.to_q", kUp},
                           {"a.processor.to_out_lora.up.weight", "a.to_out.0", kUp},
                           {"a.to_q.lora_linear_layer.down.weight", "a.to_q", kDown},
                           {"a.to_q.lora_linear_layer.up.weight", "a.to_q", kUp}}) {
    const auto key = ParseAdapterKey(c.key);
    ASSERT_TRUE(key.ok()) << c.key << ": " << key.status();
    EXPECT_EQ(key->stem, c.stem) << c.key;
    EXPECT_EQ(key->half, c.half) << c.key;
    EXPECT_EQ(key->adapter, c.adapter) << c.key;
  }
}

TEST(AdapterKey, RefusesOtherKindsOfAdaptersByTheirName) {
  const auto refusal = [](const std::string& key) {
    return std::string(ParseAdapterKey(key).status().message());
  };
  EXPECT_THAT(refusal("a.dora_scale"), HasSubstr("DoRA"));
  EXPECT_THAT(refusal("a.lora_magnitude_vector.weight"), HasSubstr("DoRA"));
  EXPECT_THAT(refusal("a.hada_w1_a"), HasSubstr("LoHa"));
  EXPECT_THAT(refusal("a.lokr_w1"), HasSubstr("LoKr"));
  EXPECT_THAT(refusal("a.oft_blocks"), HasSubstr("OFT"));
  EXPECT_THAT(refusal("a.lora_mid.weight"), HasSubstr("lora_mid"));
  EXPECT_THAT(refusal("a.reshape_weight"), HasSubstr("reshaped"));
  EXPECT_THAT(refusal("a.diff"), HasSubstr(".diff"));
  EXPECT_THAT(refusal("a.diff_b"), HasSubstr("bias"));
  EXPECT_THAT(refusal("a.set_weight"), HasSubstr(".set_weight"));
  EXPECT_THAT(refusal("a.w_norm"), HasSubstr("norm"));
  EXPECT_THAT(refusal("a.b_norm"), HasSubstr("norm"));
  EXPECT_THAT(refusal("a.lora_B.bias"), HasSubstr("bias"));
}

TEST(AdapterKey, RefusesWhatIsNoPartOfAnAdapter) {
  for (const char* key : {"", "a.weight", ".lora_A.weight", ".alpha", "lora_A", "a.lora_A..weight",
                          "a.lora_A.x.y.weight", "a.lora_C.weight", ".lora_A.n.weight"}) {
    EXPECT_FALSE(ParseAdapterKey(key).ok()) << key;
  }
}

struct StemCase {
  const char* stem;
  const char* prefix;
  const char* layer;
  bool is_flat = false, is_shared = false;
};

TEST(AdapterStem, IsSplitIntoPrefixAndLayer) {
  for (const StemCase& c :
       {StemCase{"transformer_blocks.0.ff.net.2", "", "transformer_blocks.0.ff.net.2"},
        {"proj_in", "", "proj_in"},
        {"transformer.proj_in", "transformer.", "proj_in"},
        {"diffusion_model.patchify_proj", "diffusion_model.", "patchify_proj"},
        {"model.diffusion_model.patchify_proj", "model.diffusion_model.", "patchify_proj"},
        {"base_model.model.proj_in", "base_model.model.", "proj_in"},
        {"base_model.model.transformer.proj_in", "base_model.model.transformer.", "proj_in"},
        {"lora_unet_transformer_blocks_0_attn1_to_out_0", "lora_unet_",
         "transformer_blocks_0_attn1_to_out_0", true},
        {"lora_transformer_proj_in", "lora_transformer_", "proj_in", true},
        {"lycoris_proj_in", "lycoris_", "proj_in", true},
        {"connectors.text_proj_in", "", "connectors.text_proj_in", false, true},
        {"text_embedding_projection.aggregate_embed", "",
         "text_embedding_projection.aggregate_embed", false, true}}) {
    const auto stem = SplitStem(c.stem);
    ASSERT_TRUE(stem.ok()) << c.stem << ": " << stem.status();
    EXPECT_EQ(stem->prefix, c.prefix) << c.stem;
    EXPECT_EQ(stem->layer, c.layer) << c.stem;
    EXPECT_EQ(stem->is_flat, c.is_flat) << c.stem;
    EXPECT_EQ(stem->is_shared, c.is_shared) << c.stem;
  }
}

TEST(AdapterStem, OfATextEncoderIsRefused) {
  for (const char* stem : {"text_encoder.encoder.block.0", "text_encoder_2.x", "lora_te_x",
                           "lora_te1_encoder_block_0"}) {
    EXPECT_THAT(std::string(SplitStem(stem).status().message()), HasSubstr("text encoders"))
        << stem;
  }
}

}  // namespace
}  // namespace reel::model
