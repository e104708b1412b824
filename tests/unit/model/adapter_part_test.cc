// SPDX-License-Identifier: Apache-2.0
#include "model/adapter_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <utility>

namespace reel::model {
namespace {

using ::testing::ElementsAre;

TEST(AdapterParts, AreToldByTheNamesOfLayersInEverySpelling) {
  for (const auto& [layer, part] : {
           std::pair<std::string_view, std::string_view>{"transformer_blocks.0.attn1.to_q",
                                                         "video"},
           {"lora_unet_transformer_blocks_0_ff_net_2", "video"},
           {"diffusion_model.adaln_single.linear", "video"},
           {"av_cross_attn_video_scale_shift.linear", "video"},
           {"av_ca_video_scale_shift_adaln_single.linear", "video"},
           {"transformer_blocks.0.audio_attn2.to_out.0", "audio"},
           {"lora_transformer_transformer_blocks_0_audio_ff_net_2", "audio"},
           {"audio_patchify_proj", "audio"},
           {"av_ca_audio_scale_shift_adaln_single.linear", "audio"},
           {"transformer_blocks.0.audio_to_video_attn.to_q", "audio_to_video"},
           {"av_cross_attn_video_a2v_gate.linear", "audio_to_video"},
           {"av_ca_a2v_gate_adaln_single.linear", "audio_to_video"},
           {"transformer_blocks.0.video_to_audio_attn.to_q", "video_to_audio"},
           {"av_cross_attn_audio_v2a_gate.linear", "video_to_audio"},
           {"connectors.audio_connector.transformer_blocks.0.attn1.to_q", "connectors"},
           {"audio_embeddings_connector.transformer_1d_blocks.0.attn1.to_q", "connectors"},
           {"text_embedding_projection.audio_aggregate_embed", "connectors"},
       }) {
    EXPECT_EQ(NameOf(AdapterPartOfLayer(layer)), part) << layer;
  }
}

TEST(AdapterParts, HaveTheNamesThatRequestsGiveThem) {
  for (const AdapterPart part : kAdapterParts) EXPECT_EQ(AdapterPartNamed(NameOf(part)), part);
  EXPECT_EQ(AdapterPartNamed("sound"), std::nullopt);
  EXPECT_EQ(AdapterPartNamed(""), std::nullopt);
  EXPECT_THAT(AdapterPartsOf(false), ElementsAre(AdapterPart::kVideo));
  EXPECT_EQ(AdapterPartsOf(true).size(), kAdapterParts.size());
}

}  // namespace
}  // namespace reel::model
