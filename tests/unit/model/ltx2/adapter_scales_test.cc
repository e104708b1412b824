// SPDX-License-Identifier: Apache-2.0
// Films whose adapters have scales of their own in passes and in parts of the model.
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/ltx2/ltx2_model.h"
#include "tests/unit/model/bridge/device_under_test.h"
#include "tests/unit/model/family/kept_draft.h"
#include "tests/unit/model/ltx/pipeline_run.h"
#include "tests/unit/model/ltx2/film.h"
#include "tests/unit/model/ltx2/tiny_ltx2.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model::ltx2 {
namespace {

GenerationSpec With(GenerationSpec spec, RequestAdapter adapter) {
  spec.adapters = {std::move(adapter)};
  return spec;
}

RequestAdapter Style(double scale = 1) {
  return {.name = "style",
          .scale = scale,
          .path = std::string(std::getenv("REEL_SOURCE")) +
                  "/tests/golden/adapters/ltx2/style.safetensors"};
}

RequestAdapter ByPass(RequestAdapter adapter, std::vector<double> scales) {
  adapter.pass_scales = std::move(scales);
  return adapter;
}

// For the layer that the texts of 2.0 go through once a request.
std::string CaptionAdapter(const TinyFolder& folder) {
  const std::string layer = "caption_projection.linear_1";
  const auto stored =
      WeightSet::OpenFolder(folder.path() + "/transformer", "diffusion_pytorch_model");
  const StoredTensor* const weight = stored->Find(layer + ".weight");
  if (weight == nullptr) return "";
  const int64_t out = weight->entry->shape[0], in = weight->entry->shape[1];
  const auto values = [](int64_t count) {
    std::vector<float> all;
    for (int64_t i = 0; i < count; ++i) all.push_back(0.2f * static_cast<float>(i % 7 - 3));
    return BytesOfFloats(all);
  };
  return SafetensorsOfTypes({{layer + ".lora_A.weight", "F32", {1, in}, values(in)},
                             {layer + ".lora_B.weight", "F32", {out, 1}, values(out)}});
}

struct AdaptedFilms {
  AdaptedFilms(const std::string& variant, const std::string& upsampler)
      : folder(variant, Scheduler::kStatic) {
    folder.AddUpsampler(upsampler);
    LoadOptions options;
    options.adapter_ranks = 64;
    pipeline = LoadTiny(folder, options);
  }
  GenerationSpec Spec() const {
    GenerationSpec spec = TinySpec();
    spec.preset = preset;
    spec.width = 192;
    spec.height = 128;
    spec.num_inference_steps = 0;
    spec.timesteps = {1000, 909.375, 421.875};
    return spec;
  }
  Film Draft(const GenerationSpec& whole) { return Make(*pipeline, DraftOf(whole)); }
  // What keeps the first pass of a film.
  std::string Drafted(const GenerationSpec& whole) {
    const auto draft = ltx::Begin(*pipeline, DraftOf(whole), test.run);
    Made(*pipeline, *draft);
    return FileOf(*pipeline, *draft, DraftOf(whole));
  }
  Film Promoted(const GenerationSpec& whole, const std::string& draft) {
    const auto promoted = BeginFrom(*pipeline, PromotionOf(whole), draft, test.run);
    return promoted == nullptr ? Film() : Made(*pipeline, *promoted);
  }

  const TinyFolder folder;
  const TestRun test;
  std::string preset = "22b-2.3-distilled-two-pass";
  std::unique_ptr<Pipeline> pipeline;
};

bool Same(const Film& a, const Film& b) {
  return at::equal(a.video, b.video) && at::equal(a.audio, b.audio);
}

class AdapterScales : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!DeviceUnderTest().ok()) GTEST_SKIP() << "SKIPPED: this machine lacks the device";
  }
  // A pass in which an adapter has scale 0 is to the bit one without it, and promotions of drafts
  // are to the bit the whole film.
  static void ExpectScalesOfEachPass(AdaptedFilms& films, const RequestAdapter& adapter) {
    const GenerationSpec none = films.Spec(), both = With(none, adapter);
    const GenerationSpec first = With(none, ByPass(adapter, {1, 0}));
    const GenerationSpec second = With(none, ByPass(adapter, {0, 1}));
    EXPECT_TRUE(Same(films.Draft(first), films.Draft(both)));
    EXPECT_TRUE(Same(films.Draft(second), films.Draft(none)));
    EXPECT_FALSE(Same(films.Draft(first), films.Draft(none)));
    const std::string adapted = films.Drafted(both), plain = films.Drafted(none);
    const Film without = films.Promoted(none, adapted), with = films.Promoted(both, plain);
    EXPECT_TRUE(Same(films.Promoted(first, adapted), without));
    EXPECT_TRUE(Same(Make(*films.pipeline, first), without));
    EXPECT_TRUE(Same(Make(*films.pipeline, second), with));
    EXPECT_FALSE(Same(without, films.Promoted(both, adapted)));
    const GenerationSpec half = With(none, ByPass(adapter, {1, 0.5}));
    EXPECT_TRUE(Same(films.Promoted(half, films.Drafted(half)), Make(*films.pipeline, half)));
  }
};

TEST_F(AdapterScales, AreOfEachPass) {
  AdaptedFilms films("2.3", "x2");
  ASSERT_NE(films.pipeline, nullptr);
  ExpectScalesOfEachPass(films, Style());
}

TEST_F(AdapterScales, AreOfEachPassInTextsToo) {
  AdaptedFilms films("2.0", "rational-x2");
  ASSERT_NE(films.pipeline, nullptr);
  films.preset = "19b-2.0-distilled-two-pass";
  const reel::testing::TempFolder scratch;
  const std::string file = CaptionAdapter(films.folder);
  ASSERT_FALSE(file.empty());
  ExpectScalesOfEachPass(
      films, {.name = "caption", .scale = 1, .path = scratch.Write("caption.safetensors", file)});
}

TEST_F(AdapterScales, OfPartsAddUpToTheWhole) {
  AdaptedFilms films("2.3", "x2");
  ASSERT_NE(films.pipeline, nullptr);
  const auto film = [&](double scale, double of_each_part) {
    RequestAdapter style = Style(scale);
    for (const AdapterPart part : kAdapterParts) {
      style.part_scales[std::string(NameOf(part))] = of_each_part;
    }
    return films.Draft(With(films.Spec(), style));
  };
  const Film plain = films.Draft(films.Spec()), half = films.Draft(With(films.Spec(), Style(0.5)));
  EXPECT_TRUE(Same(film(1, 0), plain));
  EXPECT_LT(RelativeError("video", film(1, 0.5).video, half.video), 1e-5);
  EXPECT_LT(RelativeError("audio", film(1, 0.5).audio, half.audio), 1e-5);
  RequestAdapter silent = Style(0.5);
  silent.part_scales["audio"] = 0;
  const Film without = films.Draft(With(films.Spec(), silent));
  EXPECT_FALSE(Same(without, half));
  EXPECT_FALSE(Same(without, plain));
}

// To the bit: nothing stands behind them.
TEST_F(AdapterScales, OfZeroLeaveThePartsWeightsAlone) {
  const TinyFolder folder("2.3");
  LoadOptions options;
  options.adapter_ranks = 64;
  options.path = folder.path();
  options.dtype = "fp32";
  for (const AdapterPart part : {AdapterPart::kVideo, AdapterPart::kAudio,
                                 AdapterPart::kVideoToAudio, AdapterPart::kAudioToVideo}) {
    const auto model = LoadLtx2Model(options, at::kCPU);
    ASSERT_TRUE(model.ok()) << model.status();
    RequestAdapter style = Style();
    style.part_scales[std::string(NameOf(part))] = 0;
    const c10::InferenceMode no_gradients;
    const auto taken = (*model)->adapter_shelf->Take({style});
    ASSERT_TRUE(taken.ok()) << taken.status();
    PlaceAdapters((*model)->adapter_shelf.get(), *taken);
    const AdapterRoom& room = (*model)->adapter_shelf->columns().room();
    int left_alone = 0;
    for (const AdapterRoom::Layer& layer : room.layers()) {
      const bool is_of_part = AdapterPartOfLayer(layer.name) == part;
      EXPECT_EQ(room.IsUsed(layer), !is_of_part) << layer.name;
      left_alone += is_of_part ? 1 : 0;
    }
    EXPECT_GT(left_alone, 0) << NameOf(part);
  }
}

}  // namespace
}  // namespace reel::model::ltx2
