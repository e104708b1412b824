// SPDX-License-Identifier: Apache-2.0
// Films of a tiny 2.5 whose pictures its diffusion decoder makes: against diffusers, what the card
// says of it, and what is refused.
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx2/ltx2_model.h"
#include "model/ltx2/ltx2_pipeline.h"
#include "model/resolve.h"
#include "model/weights/manifest.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/family/kept_draft.h"
#include "tests/unit/model/ltx/pipeline_run.h"
#include "tests/unit/model/ltx2/film.h"
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kKeptFrames = 31;  // golden_ltx2_diffusion.py keeps one of so many values

LoadOptions ByDiffusion() {
  LoadOptions options;
  options.decoder = kDiffusionDecoder;
  return options;
}

// The film of the goldens.
GenerationSpec AncestralSpec() {
  GenerationSpec spec = TinySpec();
  spec.num_inference_steps = 0;
  spec.preset = "22b-2.5-distilled";
  spec.timesteps = {993.75, 725, 421.875};
  return spec;
}

class DiffusionFilm : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!DeviceUnderTest().ok()) {
      GTEST_SKIP() << "SKIPPED: this machine lacks the device: " << DeviceUnderTest().status();
    }
    folder_.AddDiffusionDecoder();
    pipeline_ = LoadTiny(folder_, ByDiffusion());
    ASSERT_NE(pipeline_, nullptr);
  }
  std::unique_ptr<Generation> Denoised(const GenerationSpec& spec) {
    auto generation = ltx::Begin(*pipeline_, spec, test_.run);
    while (generation->step() < generation->num_steps()) {
      ltx::StepAll(*pipeline_, {generation.get()}, test_.run);
    }
    return generation;
  }

  const TinyFolder folder_{"2.5", Scheduler::kStatic};
  const TestRun test_;
  std::unique_ptr<Pipeline> pipeline_;
};

TEST_F(DiffusionFilm, EqualsTheFilmOfDiffusersNoiseIncluded) {
  const Film film = Make(*pipeline_, AncestralSpec());
  const Golden latents = Golden::In("ltx2/films/2.5");
  const Golden golden = Golden::In("ltx2/diffusion_decoder/2.5");
  EXPECT_LT(RelativeError("video", film.video, latents["ancestral.video"]), 1e-5);
  EXPECT_LT(RelativeError("frames", film.frames.flatten().slice(0, 0, {}, kKeptFrames),
                          golden["film.frames"]),
            1e-5);
}

TEST_F(DiffusionFilm, IsTheSameForTheSameSeedAndHasOtherPicturesThanTheOtherDecoder) {
  const Film film = Make(*pipeline_, AncestralSpec()), again = Make(*pipeline_, AncestralSpec());
  EXPECT_TRUE(film.frames.equal(again.frames));
  const auto other = LoadTiny(folder_);
  ASSERT_NE(other, nullptr);
  const Film by_autoencoder = Make(*other, AncestralSpec());
  EXPECT_TRUE(film.video.equal(by_autoencoder.video));
  EXPECT_TRUE(film.wave.equal(by_autoencoder.wave));
  EXPECT_FALSE(film.frames.equal(by_autoencoder.frames));
}

TEST_F(DiffusionFilm, LeavesInPiecesAndGoesOnAfterAPause) {
  GenerationSpec spec = AncestralSpec();
  spec.num_frames = 65;
  const auto whole = Denoised(spec), paused = Denoised(spec);
  CollectingSink expected(FrameFormat::kRgbF32), got(FrameFormat::kRgbF32);
  int pieces = 0;
  for (bool done = false; !done; ++pieces)
    done = *pipeline_->DecodeNext(*whole, expected, test_.run);
  EXPECT_GT(pieces, 4);
  EXPECT_EQ(expected.num_frames, 65);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(pipeline_->DecodeNext(*paused, got, test_.run).ok());
  EXPECT_GT(got.num_frames, 0);
  ASSERT_TRUE(paused->Park(true).ok());
  ASSERT_TRUE(paused->Resume().ok());
  while (!*pipeline_->DecodeNext(*paused, got, test_.run)) {
  }
  EXPECT_EQ(got.num_frames, 65);
  EXPECT_TRUE(got.Values().equal(expected.Values()));
}

TEST_F(DiffusionFilm, KeepsItsPicturesInARetakeOfItsSoundAndInOneOfThat) {
  GenerationSpec spec = AncestralSpec();
  const auto source = Denoised(spec);
  std::string state = FileOf(*pipeline_, *source, spec);
  const Film film = Made(*pipeline_, *source);
  for (int i = 0; i < 2; ++i) {
    GenerationSpec retake = RetakeOf(spec, 0, 17 / 24.0);  // with another seed
    retake.source->retake.keep_pictures = true;
    const auto generation = BeginFrom(*pipeline_, retake, state, test_.run);
    ASSERT_NE(generation, nullptr);
    const Film made = Made(*pipeline_, *generation);
    EXPECT_FALSE(made.wave.equal(film.wave));
    EXPECT_TRUE(made.frames.equal(film.frames)) << i;
    state = FileOf(*pipeline_, *generation, retake);
    spec.seed = retake.seed;
  }
}

TEST_F(DiffusionFilm, IsPreviewedFromASingleLatentFrame) {
  const auto generation = ltx::Begin(*pipeline_, AncestralSpec(), test_.run);
  ASSERT_NE(generation, nullptr);
  const auto preview = pipeline_->Preview(*generation, 32, test_.run);
  ASSERT_TRUE(preview.ok()) << preview.status();
  EXPECT_EQ(preview->width, 32);
}

TEST_F(DiffusionFilm, IsRefusedAtSizesThatItsWindowsExceedWithTheSizesThatWork) {
  const ModelCard& card = pipeline_->card();
  EXPECT_EQ(card.decoder, kDiffusionDecoder);
  EXPECT_EQ(card.limits.min_frames, 17);
  EXPECT_EQ(card.limits.min_size, 64);
  GenerationSpec spec = AncestralSpec();
  spec.num_frames = 9;
  const auto short_one = Resolve(spec, card, {}, 1).violations;
  ASSERT_EQ(short_one.size(), 1u);
  EXPECT_EQ(short_one[0].field, "num_frames");
  EXPECT_THAT(short_one[0].description, HasSubstr("17"));
  EXPECT_THAT(pipeline_->Create(spec, test_.run).status().message(),
              AllOf(HasSubstr("9 frames"), HasSubstr("from 17 on")));
  spec.num_frames = 17;
  spec.height = 32;
  const auto low = Resolve(spec, card, {}, 1).violations;
  ASSERT_EQ(low.size(), 1u);
  EXPECT_EQ(low[0].field, "height");
}

TEST_F(DiffusionFilm, CountsTheDecoderInTheModelAndItsMemory) {
  const auto plain = LoadTiny(folder_);
  ASSERT_NE(plain, nullptr);
  const ModelCard &with = pipeline_->card(), &without = plain->card();
  EXPECT_GT(with.parameters, without.parameters);
  EXPECT_EQ(with.weight_bytes - without.weight_bytes, 4 * (with.parameters - without.parameters));
  EXPECT_NE(with.memory.frame_pixel, without.memory.frame_pixel);
  EXPECT_EQ(without.decoder, "");
  EXPECT_EQ(without.limits.min_frames, 1);
}

// The releases' sizes, in bf16 at 768x512.
TEST(DiffusionMemory, OfAFilmIsBoundedWhateverItsLength) {
  const DiffusionDecoderConfig config;
  const int64_t bytes = config.PixelNumbers() * 2 * 768 * 512;
  EXPECT_GT(bytes, int64_t{4} << 30);
  EXPECT_LT(bytes, int64_t{12} << 30);
}

TEST(DiffusionModel, IsHeldToTheManifestWhereItIsRead) {
  const TinyFolder folder("2.5");
  folder.AddDiffusionDecoder();
  std::string lines;
  for (const ListedFile& file :
       FilesOf(folder.path(), {"audio_vae", "connectors", "scheduler", "text_encoder", "tokenizer",
                               "transformer", "vae", "vocoder"})) {
    lines += SumOf(*MappedFile::Open(file.path)) + "  " + file.name + "\n";
  }
  const reel::testing::TempFolder scratch;
  LoadOptions options;
  options.path = folder.path();
  options.manifest_file = scratch.Write("sums", lines);
  const auto without = CheckLtx2Model(options, {});
  EXPECT_TRUE(without.ok()) << without.status();
  options.decoder = kDiffusionDecoder;
  EXPECT_THAT(CheckLtx2Model(options, {}).status().message(),
              AllOf(HasSubstr("not in its manifest"), HasSubstr("diffusion_decoder/")));
}

TEST(DiffusionModel, IsRefusedByNameWhereTheFolderLacksItOrItDoesNotMatch) {
  const auto refusal = [](const TinyFolder& folder) {
    LoadOptions options = ByDiffusion();
    options.name = "tiny";
    options.path = folder.path();
    const auto loaded = LoadLtx2Pipeline(options, {});
    EXPECT_EQ(CheckLtx2Model(options, {}).status(), loaded.status());
    return std::string(loaded.status().message());
  };
  const TinyFolder without("2.5");
  EXPECT_THAT(refusal(without),
              AllOf(HasSubstr("the model has no diffusion decoder"), HasSubstr("decoder"),
                    HasSubstr("diffusion_decoder/config.json")));
  const TinyFolder scaled("2.5");
  scaled.AddDiffusionDecoder();
  scaled.Set("diffusion_decoder", "scaling_factor", 2);
  EXPECT_THAT(refusal(scaled), HasSubstr("the diffusion decoder's scaling_factor is 2"));
  const TinyFolder later("2.5");
  later.AddDiffusionDecoder();
  later.Set("diffusion_decoder", "decoder_num_inference_steps", 2);
  EXPECT_THAT(refusal(later), HasSubstr("decoder_num_inference_steps"));
}

}  // namespace
}  // namespace reel::model::ltx2
