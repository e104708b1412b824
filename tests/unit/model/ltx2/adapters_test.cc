// SPDX-License-Identifier: Apache-2.0
// LTX-2 with adapters in its transformer and its connectors.
#include <cstdlib>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/adapters/linear_table.h"
#include "model/ltx2/ltx2_pipeline.h"
#include "model/ltx2/single_file.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/device_under_test.h"
#include "tests/unit/model/ltx2/film.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kAdapterRank = 2;

class AdaptedFilm : public ::testing::Test {
 protected:
  AdaptedFilm() : folder_("2.3") {
    plain_.name = "tiny";
    plain_.dtype = "fp32";
    plain_.path = folder_.path();
  }

  // A pair for one layer of a part.
  std::string Pair(const std::string& part, const std::string& layer,
                   const std::string& stem) const {
    const auto stored =
        WeightSet::OpenFolder(folder_.path() + "/" + part, "diffusion_pytorch_model");
    const StoredTensor* const weight = stored->Find(layer + ".weight");
    EXPECT_NE(weight, nullptr) << layer;
    const int64_t out = weight->entry->shape[0], in = weight->entry->shape[1];
    const auto values = [](int64_t count) {
      std::vector<float> all;
      for (int64_t i = 0; i < count; ++i) all.push_back(0.05f * static_cast<float>(i % 7 - 3));
      return BytesOfFloats(all);
    };
    return scratch_.Write(
        layer,
        SafetensorsOfTypes(
            {{stem + ".lora_A.weight", "F32", {kAdapterRank, in}, values(kAdapterRank * in)},
             {stem + ".lora_B.weight", "F32", {out, kAdapterRank}, values(out * kAdapterRank)}}));
  }
  Film With(const std::vector<std::string>& files) const {
    LoadOptions options = plain_;
    for (const std::string& file : files) options.adapters.push_back({file, file, 1});
    auto pipeline = LoadLtx2Pipeline(options, DeviceUnderTest()->stream);
    EXPECT_TRUE(pipeline.ok()) << pipeline.status();
    return pipeline.ok() ? Make(**pipeline, TinySpec()) : Film();
  }
  static bool Same(const Film& a, const Film& b) {
    return a.video.equal(b.video) && a.audio.equal(b.audio);
  }

  const TinyFolder folder_;
  const reel::testing::TempFolder scratch_;
  LoadOptions plain_;
};

TEST_F(AdaptedFilm, DependsOnAdaptersOfTheTransformerAndOfTheConnectors) {
  const std::string layer = "transformer_blocks.0.audio_to_video_attn.to_v";
  const Film plain = With({});
  const Film video = With({Pair("transformer", layer, "diffusion_model." + layer)});
  const Film text = With({Pair("connectors", "video_text_proj_in",
                               "text_embedding_projection.video_aggregate_embed")});
  EXPECT_FALSE(Same(video, plain));
  EXPECT_FALSE(Same(text, plain));
  EXPECT_TRUE(Same(
      With({Pair("connectors", "video_text_proj_in", "connectors.video_text_proj_in")}), text));
}

TEST_F(AdaptedFilm, RefusesLayersThatTheModelHasNot) {
  LoadOptions options = plain_;
  const std::string file =
      Pair("transformer", "proj_in", "diffusion_model.transformer_blocks.77.attn1.to_q");
  options.adapters = {{"a", file, 1}};
  const absl::Status status = LoadLtx2Pipeline(options, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr(file), HasSubstr("no such layer")));
  EXPECT_EQ(CheckLtx2Model(options, {}).status(), status);
}

// Two tables of names, for files of models and for adapters, agree.
TEST(AdaptedFilmNames, AreThoseOfSingleFiles) {
  struct Layout {
    const char* file;
    FilePart part;
    std::string prefix;  // of an adapter's layers
  };
  for (const Layout& layout : {Layout{"transformer-2.0", FilePart::kTransformer, ""},
                               Layout{"transformer-2.3", FilePart::kTransformer, ""},
                               Layout{"transformer-2.5", FilePart::kTransformer, ""},
                               Layout{"connectors-2.0", FilePart::kConnectors, "connectors."},
                               Layout{"connectors-2.3", FilePart::kConnectors, "connectors."}}) {
    const nlohmann::json shapes =
        (*ReadJsonFile(std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/ltx2/layouts/" +
                       layout.file + ".json"))["shapes"];
    for (const auto& [name, shape] : shapes.items()) {
      if (shape.size() != 2 || !name.ends_with(".weight")) continue;
      std::string original = OriginalLinearName(layout.prefix + name);
      if (!original.starts_with("text_embedding_projection.")) {
        original = "model.diffusion_model." + original;
      }
      EXPECT_EQ(NameInFolder(layout.part, original, 8), name) << original;
    }
  }
}

}  // namespace
}  // namespace reel::model::ltx2
