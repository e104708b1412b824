// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/checkpoint_names.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model::ltx {
namespace {

absl::StatusOr<WeightSet> SetOf(const std::vector<NamedShape>& tensors) {
  const reel::testing::TempFolder folder;
  return WeightSet::OpenFile(folder.Write("f.safetensors", SafetensorsOf(tensors)));
}

absl::StatusOr<CheckpointVersion> VersionOf(const std::vector<NamedShape>& tensors) {
  const auto set = SetOf(tensors);
  return set.ok() ? DetectVersion(*set) : set.status();
}

const NamedShape kPatchify = {"model.diffusion_model.patchify_proj.weight", {1}};
const NamedShape kTimeEmbedder = {
    "vae.decoder.last_time_embedder.timestep_embedder.linear_1.weight", {1}};

TEST(CheckpointNames, TellsReleasesApart) {
  EXPECT_EQ(*VersionOf({kPatchify}), CheckpointVersion::k090);
  EXPECT_EQ(*VersionOf({kPatchify, kTimeEmbedder}), CheckpointVersion::k091);
  EXPECT_EQ(*VersionOf({kPatchify, kTimeEmbedder, {"vae.encoder.conv_out.conv.weight", {1, 2048}}}),
            CheckpointVersion::k095);
  EXPECT_EQ(*VersionOf({kTimeEmbedder,
                        {"model.diffusion_model.transformer_blocks.47.scale_shift_table", {1}}}),
            CheckpointVersion::k097);
  EXPECT_EQ(*VersionOf({{"transformer_blocks.27.scale_shift_table", {1}}}),
            CheckpointVersion::k090);
  EXPECT_EQ(*VersionOf({{"vae.decoder.last_scale_shift_table", {1}}}), CheckpointVersion::k090);
}

TEST(CheckpointNames, RefusesOtherModels) {
  EXPECT_EQ(VersionOf({{"down_blocks.0.weight", {1}}}).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

struct NamePair {
  std::string original;
  std::string ours;  // empty: dropped
};

TEST(CheckpointNames, GivesTransformerTensorsTheirFolderNames) {
  const std::vector<NamePair> pairs = {
      {"model.diffusion_model.patchify_proj.bias", "proj_in.bias"},
      {"model.diffusion_model.adaln_single.emb.timestep_embedder.linear_1.weight",
       "time_embed.emb.timestep_embedder.linear_1.weight"},
      {"adaln_single.linear.bias", "time_embed.linear.bias"},
      {"model.diffusion_model.transformer_blocks.3.attn1.q_norm.weight",
       "transformer_blocks.3.attn1.norm_q.weight"},
      {"model.diffusion_model.transformer_blocks.3.attn2.k_norm.weight",
       "transformer_blocks.3.attn2.norm_k.weight"},
      {"model.diffusion_model.scale_shift_table", "scale_shift_table"},
      {"vae.decoder.conv_in.conv.weight", ""},
  };
  for (const auto& [original, ours] : pairs) {
    EXPECT_EQ(TransformerName(original).value_or(""), ours) << original;
  }
}

TEST(CheckpointNames, GivesVaeTensorsTheirFolderNames) {
  using V = CheckpointVersion;
  const std::vector<std::pair<V, NamePair>> pairs = {
      {V::k090,
       {"vae.decoder.up_blocks.0.res_blocks.1.conv2.conv.bias",
        "decoder.mid_block.resnets.1.conv2.conv.bias"}},
      {V::k090,
       {"vae.decoder.up_blocks.4.norm3.norm.weight", "decoder.up_blocks.2.conv_in.norm3.weight"}},
      {V::k090,
       {"vae.decoder.up_blocks.8.conv.conv.weight",
        "decoder.up_blocks.3.upsamplers.0.conv.conv.weight"}},
      {V::k090,
       {"vae.encoder.down_blocks.5.conv_shortcut.weight",
        "encoder.down_blocks.1.conv_out.conv_shortcut.conv.weight"}},
      {V::k091,
       {"vae.encoder.down_blocks.9.res_blocks.0.conv1.conv.weight",
        "encoder.mid_block.resnets.0.conv1.conv.weight"}},
      {V::k091,
       {"vae.decoder.up_blocks.5.conv.conv.bias",
        "decoder.up_blocks.2.upsamplers.0.conv.conv.bias"}},
      {V::k091,
       {"vae.decoder.up_blocks.2.res_blocks.6.per_channel_scale1",
        "decoder.up_blocks.0.resnets.6.per_channel_scale1"}},
      {V::k091, {"vae.decoder.last_scale_shift_table", "decoder.scale_shift_table"}},
      {V::k095,
       {"vae.decoder.last_time_embedder.timestep_embedder.linear_2.bias",
        "decoder.time_embedder.timestep_embedder.linear_2.bias"}},
      {V::k095,
       {"vae.encoder.down_blocks.7.conv.conv.weight",
        "encoder.down_blocks.3.downsamplers.0.conv.conv.weight"}},
      {V::k097,
       {"vae.encoder.down_blocks.8.res_blocks.1.conv1.conv.weight",
        "encoder.mid_block.resnets.1.conv1.conv.weight"}},
      {V::k095, {"vae.decoder.timestep_scale_multiplier", "decoder.timestep_scale_multiplier"}},
      {V::k095, {"vae.per_channel_statistics.mean-of-means", "latents_mean"}},
      {V::k095, {"vae.per_channel_statistics.std-of-means", "latents_std"}},
      {V::k095, {"vae.per_channel_statistics.mean-of-stds", ""}},
      {V::k095, {"vae.per_channel_statistics.mean-of-stds_over_std-of-means", ""}},
      {V::k095, {"vae.per_channel_statistics.channel", ""}},
      {V::k095, {"model.diffusion_model.proj_out.bias", ""}},
      {V::k095, {"vae.decoder.up_blocks.7.x", "decoder.up_blocks.7.x"}},  // unknown: kept as it is
      {V::k095, {"vae.decoder.up_blocks.99999999999.x", "decoder.up_blocks.99999999999.x"}},
  };
  for (const auto& [version, pair] : pairs) {
    EXPECT_EQ(VaeName(pair.original, version).value_or(""), pair.ours) << pair.original;
  }
}

TEST(CheckpointNames, CutsACheckpointIntoComponents) {
  const auto set = SetOf({kPatchify, {"vae.decoder.conv_in.conv.bias", {2}}});
  ASSERT_TRUE(set.ok());
  EXPECT_NE(TransformerOf(*set)->Find("proj_in.weight"), nullptr);
  EXPECT_EQ(TransformerOf(*set)->tensors().size(), 1u);
  EXPECT_NE(VaeOf(*set, CheckpointVersion::k090)->Find("decoder.conv_in.conv.bias"), nullptr);
}

}  // namespace
}  // namespace reel::model::ltx
