// SPDX-License-Identifier: Apache-2.0
#include "server/render/render_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/fakes/temp_folder.h"

namespace reel::render {
namespace {

using ::testing::ElementsAre;

std::optional<RenderOptions> Parse(std::vector<std::string> extra, int* exit_code = nullptr) {
  std::vector<std::string> arguments = {"--prompt", "a_fox --x", "--output", "a.mp4"};
  arguments.insert(arguments.end(), extra.begin(), extra.end());
  int ignored = 0;
  return ParseRenderOptions(arguments, "", exit_code == nullptr ? ignored : *exit_code);
}

TEST(ParseRenderOptions, TakesDashesAndUnderscoresAlike) {
  for (const char* flag : {"--num-frames", "--num_frames"}) {
    const auto options = Parse({flag, "9"});
    ASSERT_TRUE(options) << flag;
    EXPECT_EQ(options->spec.num_frames, 9);
  }
  EXPECT_EQ(Parse({"--guidance_scale=2.5"})->spec.guidance_scale, 2.5);
  EXPECT_EQ(Parse({})->spec.prompt, "a_fox --x");
}

TEST(ParseRenderOptions, TakesWhatTheFileSaysOfHowItWasMade) {
  EXPECT_EQ(Parse({})->spec.encoding.origin, model::Origin::kUnspecified);
  EXPECT_EQ(Parse({"--origin", "spec"})->spec.encoding.origin, model::Origin::kSpec);
  EXPECT_EQ(Parse({"--origin", "none"})->spec.encoding.origin, model::Origin::kNone);
  int exit_code = 0;
  EXPECT_FALSE(Parse({"--origin", "all"}, &exit_code));
  EXPECT_EQ(exit_code, kUsage);
}

TEST(ParseRenderOptions, LeavesOutWhatIsNotSet) {
  const auto options = Parse({});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->spec.width, 0);
  EXPECT_EQ(options->spec.guidance_scale, std::nullopt);
  EXPECT_EQ(options->spec.seed, 0u);
  EXPECT_EQ(options->model_path, "");
  EXPECT_FALSE(options->exact);
}

TEST(ParseRenderOptions, TakesTheModelThatCameAlongUnlessAnotherIsNamed) {
  const reel::testing::TempFolder models;
  const std::string demo = models.File("ltx-demo");
  std::filesystem::create_directory(demo);
  std::ofstream(demo + "/model_index.json") << "{}";
  std::ofstream(demo + "/SHA256SUMS") << "";
  int exit_code = 0;
  const auto parse = [&](std::vector<std::string> extra) {
    extra.insert(extra.end(), {"--prompt", "x", "--output", "a.mp4"});
    return ParseRenderOptions(extra, models.path(), exit_code);
  };
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{}, {"--model", "ltx-demo"}}) {
    const auto options = parse(flags);
    ASSERT_TRUE(options);
    EXPECT_EQ(options->model_path, demo);
    EXPECT_EQ(options->dtype, "fp32");
    EXPECT_EQ(options->manifest_file, demo + "/SHA256SUMS");
  }
  EXPECT_EQ(parse({"--dtype", "bf16"})->dtype, "bf16");
  EXPECT_EQ(parse({"--model", "testcard"})->model_path, "");
  EXPECT_EQ(parse({"--model", models.path()})->model_path, models.path());
  EXPECT_EQ(parse({"--model", models.path()})->dtype, "");
  // Made-up values are in no manifest.
  const model::LoadOptions random = LoadOptionsOf(*parse({"--random-weights", "7"}));
  EXPECT_EQ(random.random_weights, 7);
  EXPECT_EQ(random.manifest_file, "");
  EXPECT_EQ(LoadOptionsOf(*parse({})).random_weights, std::nullopt);
}

TEST(ParseRenderOptions, SayWhereWeightsAre) {
  int exit_code = 0;
  const auto parse = [&](std::vector<std::string> extra) {
    extra.insert(extra.end(), {"--model", "testcard", "--prompt", "x", "--output", "a.mp4"});
    return ParseRenderOptions(extra, "", exit_code);
  };
  const auto options =
      parse({"--device-memory", "24GB", "--text-place", "host", "--resident-blocks", "7"});
  ASSERT_TRUE(options);
  const model::LoadOptions load = LoadOptionsOf(*options);
  EXPECT_EQ(load.device_memory, 24'000'000'000);
  EXPECT_EQ(load.offload, (model::Offload{.text = model::Place::kHost, .resident_blocks = 7}));
  EXPECT_EQ(LoadOptionsOf(*parse({})).offload, model::Offload());
  EXPECT_EQ(LoadOptionsOf(*parse({})).weights_form, model::WeightsForm::k16);
  EXPECT_EQ(LoadOptionsOf(*parse({"--weights-form", "e4m3"})).weights_form,
            model::WeightsForm::kE4m3);
  EXPECT_EQ(LoadOptionsOf(*parse({})).text_form, model::WeightsForm::k16);
  EXPECT_EQ(LoadOptionsOf(*parse({"--text-form", "e4m3"})).text_form, model::WeightsForm::kE4m3);
  EXPECT_EQ(LoadOptionsOf(*parse({"--decoder", "diffusion"})).decoder, "diffusion");
  EXPECT_EQ(LoadOptionsOf(*parse({"--text-place", "device"})).offload.text, model::Place::kDevice);
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--device-memory", "much"},
                                                {"--device-memory", "0"},
                                                {"--text-place", "disk"},
                                                {"--weights-form", "int4"},
                                                {"--text-form", "int4"},
                                                {"--resident-blocks", "-1"},
                                                {"--resident-blocks", "x"}}) {
    EXPECT_FALSE(parse(wrong)) << wrong[1];
    EXPECT_EQ(exit_code, kUsage);
  }
}

TEST(ParseRenderOptions, NamesPartsByTheirFiles) {
  int exit_code = 0;
  const auto parse = [&](std::vector<std::string> extra) {
    extra.insert(extra.end(), {"--model", "testcard", "--prompt", "x", "--output", "a.mp4"});
    return ParseRenderOptions(extra, "", exit_code);
  };
  const auto options = parse({"--part", "transformer=/a=b.gguf", "--part", "vae=v"});
  ASSERT_TRUE(options);
  EXPECT_EQ(LoadOptionsOf(*options).parts,
            (std::vector<model::PartFile>{{model::ModelPart::kTransformer, "/a=b.gguf"},
                                          {model::ModelPart::kVae, "v"}}));
  for (const char* wrong : {"unet=/a", "vae", "vae=", "=/a"}) {
    EXPECT_FALSE(parse({"--part", wrong})) << wrong;
    EXPECT_EQ(exit_code, kUsage);
  }
}

TEST(ParseRenderOptions, AnAdapterIsAFileAndItsScale) {
  int exit_code = 0;
  const auto parse = [&](std::vector<std::string> extra) {
    extra.insert(extra.end(), {"--model", "testcard", "--prompt", "x", "--output", "a.mp4"});
    return ParseRenderOptions(extra, "", exit_code);
  };
  const auto options = parse({"--adapter", "/a/style.safetensors:0.5", "--adapter", "turn",
                              "--adapter", "odd:name", "--adapter", "back:-4"});
  ASSERT_TRUE(options);
  EXPECT_EQ(LoadOptionsOf(*options).adapters,
            (std::vector<model::FixedAdapter>{{"style.safetensors", "/a/style.safetensors", 0.5},
                                              {"turn", "turn", 1},
                                              {"odd:name", "odd:name", 1},
                                              {"back", "back", -4}}));
  // Beside the weights, as a server has those of requests.
  const auto beside = parse({"--adapter", "/a/style.safetensors:0.5", "--adapter-ranks", "64"});
  ASSERT_TRUE(beside);
  EXPECT_TRUE(LoadOptionsOf(*beside).adapters.empty());
  EXPECT_EQ(LoadOptionsOf(*beside).adapter_ranks, 64);
  EXPECT_EQ(
      beside->spec.adapters,
      (std::vector<model::RequestAdapter>{{"style.safetensors", 0.5, "", "/a/style.safetensors"}}));
  EXPECT_TRUE(options->spec.adapters.empty());
  const auto scaled = parse({"--adapter", "/a/b.st:0.5,audio=0,pass=1/0", "--adapter-ranks", "64"});
  ASSERT_TRUE(scaled);
  ASSERT_EQ(scaled->spec.adapters.size(), 1u);
  EXPECT_EQ(scaled->spec.adapters[0].path, "/a/b.st");
  EXPECT_EQ(scaled->spec.adapters[0].part_scales.at("audio"), 0);
  EXPECT_EQ(scaled->spec.adapters[0].pass_scales, (std::vector<double>{1, 0}));
  for (const char* wrong :
       {"a,audio=0", "a,pass=1/0", "a:4.5", "a:-5", "a:nan", "a:inf", "a:1e308", ":1", ""}) {
    ::testing::internal::CaptureStderr();
    EXPECT_FALSE(parse({"--adapter", wrong})) << wrong;
    EXPECT_EQ(exit_code, kUsage);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::HasSubstr("--adapter"))
        << wrong;
  }
}

TEST(ParseRenderOptions, AModelThatIsNotThereIsRefusedWithTheNearest) {
  const reel::testing::TempFolder models;
  std::filesystem::create_directory(models.File("LTX-Video"));
  for (const auto& [wanted, nearest] : {std::pair<std::string, std::string>{"testcart", "testcard"},
                                        {models.File("LTX-Vidoe"), models.File("LTX-Video")}}) {
    int exit_code = 0;
    ::testing::internal::CaptureStderr();
    EXPECT_FALSE(Parse({"--model", wanted}, &exit_code));
    EXPECT_EQ(exit_code, kUsage);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(),
                ::testing::HasSubstr("'" + wanted + "'; the nearest is '" + nearest + "'"));
  }
}

TEST(ParseRenderOptions, ReadsSchedules) {
  EXPECT_THAT(Parse({"--timesteps", "1000,500.5,1"})->spec.timesteps, ElementsAre(1000, 500.5, 1));
}

TEST(ParseRenderOptions, TellsTheOutputsApart) {
  int exit_code = 0;
  const auto exact =
      ParseRenderOptions({"--prompt", "x", "--output", "b.safetensors"}, "", exit_code);
  ASSERT_TRUE(exact);
  EXPECT_TRUE(exact->exact);
  EXPECT_FALSE(ParseRenderOptions({"--prompt", "x", "--output", "b.avi"}, "", exit_code));
  EXPECT_EQ(exit_code, kUsage);
}

TEST(ParseRenderOptions, ReadsAnImageForTheImagePipeline) {
  const auto options = Parse({"--image", "a@b.png"});
  ASSERT_TRUE(options);
  ASSERT_EQ(options->conditions.size(), 1u);
  EXPECT_EQ(options->conditions[0].path, "a@b.png");
  EXPECT_EQ(options->spec.condition_pipeline, model::ConditionPipeline::kImage);
  EXPECT_EQ(Parse({})->spec.condition_pipeline, model::ConditionPipeline::kAuto);
}

TEST(ParseRenderOptions, ReadsConditionsForTheConditionPipeline) {
  const auto options = Parse({"--condition", "a@b:c.png@16:0.5", "--condition", "d.mp4@24", "e.png",
                              "--image-condition-noise-scale", "0.1"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->spec.condition_pipeline, model::ConditionPipeline::kCondition);
  EXPECT_EQ(options->spec.image_condition_noise_scale, 0.1);
  ASSERT_EQ(options->conditions.size(), 3u);
  EXPECT_EQ(options->conditions[0].path, "a@b:c.png");
  EXPECT_EQ(options->conditions[0].frame_index, 16);
  EXPECT_EQ(options->conditions[0].strength, 0.5);
  EXPECT_EQ(options->conditions[1].frame_index, 24);
  EXPECT_EQ(options->conditions[1].strength, 1);
  EXPECT_EQ(options->conditions[2].frame_index, 0);
}

TEST(ParseRenderOptions, ReadsWhenStepsMayBeReused) {
  const auto options =
      Parse({"--kernels", "cache", "--cache-threshold", "0.2", "--cache-most-reused", "2"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->spec.kernels.profile, "cache");
  EXPECT_EQ(options->spec.cache.threshold, 0.2);
  EXPECT_EQ(options->spec.cache.most_reused, 2);
}

TEST(ParseRenderOptions, ReadsSingleVariantsOnTopOfAProfile) {
  const auto options = Parse({"--kernels", "reference+rms_norm=loops,ltx_rope=avx2"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->spec.kernels.profile, "reference");
  EXPECT_EQ(options->spec.kernels.variants.at("ltx_rope"), "avx2");
  EXPECT_EQ(Parse({"--kernels", "auto"})->spec.kernels.profile, "auto");
  EXPECT_TRUE(Parse({"--kernels", "auto"})->spec.kernels.variants.empty());
}

// As diffusers' calls take it.
TEST(ParseRenderOptions, TheDecodersNoiseIsItsTimestepUnlessSomebodySaysOtherwise) {
  EXPECT_EQ(Parse({"--decode-timestep", "0.05"})->spec.decode_noise_scale, 0.05);
  EXPECT_EQ(Parse({"--decode-timestep", "0.05", "--decode-noise-scale", "0.025"})
                ->spec.decode_noise_scale,
            0.025);
  EXPECT_EQ(Parse({"--decode-timestep", "0.05", "--preset", "x"})->spec.decode_noise_scale,
            std::nullopt);
}

TEST(ParseRenderOptions, RefusesWhatThisBuildCannotDo) {
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"--image", "a.png", "--condition", "a.png@0:1"},
        {"--condition", "a.png@x"},
        {"--condition", "a.png@0:much"},
        {"--condition", "@0:1"},
        {"--kernels", "auto+rms_norm"},
        {"--dtype", "int3"},
        {"--steps", "many"},
        {"--frobnicate"}}) {
    int exit_code = 0;
    EXPECT_FALSE(Parse(flags, &exit_code)) << flags[0];
    EXPECT_EQ(exit_code, kUsage) << flags[0];
  }
}

TEST(ParseRenderOptions, HelpIsNoError) {
  int exit_code = -1;
  EXPECT_FALSE(ParseRenderOptions({"--help"}, "", exit_code));
  EXPECT_EQ(exit_code, kSuccess);
}

TEST(ParseRenderOptions, TakesADraftAndTheFileOfItsState) {
  const auto options =
      Parse({"--preset", "two-pass", "--stop_after_pass", "1", "--keep-state", "s"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->spec.stop_after_pass, 1);
  EXPECT_EQ(options->state, "s");
  EXPECT_EQ(options->spec.keep_state, true);
  EXPECT_FALSE(Parse({})->spec.keep_state.has_value());
  int exit_code = 0;
  EXPECT_FALSE(Parse({"--keep-state", "a.mp4"}, &exit_code));
  EXPECT_EQ(exit_code, kUsage);
}

TEST(ParseRenderOptions, APromotionTakesNothingOfTheVideoFromFlags) {
  int exit_code = 0;
  const auto parse = [&](std::vector<std::string> extra) {
    exit_code = 0;
    extra.insert(extra.begin(), {"--model", "testcard", "--promote", "s", "--output", "a.mp4"});
    return ParseRenderOptions(extra, "", exit_code);
  };
  const auto options = parse({"--timings", "--keep-state", "own", "--encoder-threads", "2"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->source_file, "s");
  EXPECT_EQ(options->source.begin, model::Source::Begin::kPromote);
  EXPECT_EQ(options->state, "own");
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"--prompt", "a fox"},
                                                {"--seed", "7"},
                                                {"--crf", "20"},
                                                {"--origin", "spec"},
                                                {"--no-sound"},
                                                {"--stop-after-pass", "1"},
                                                {"--image", "i.png"},
                                                {"--condition", "i.png@0:1"},
                                                {"--kernels", "auto"}}) {
    EXPECT_FALSE(parse(flags)) << flags[0];
    EXPECT_EQ(exit_code, kUsage);
  }
}

TEST(ParseRenderOptions, WhatGoesOnFromAVideoTakesItsSizeAndLengthFromThere) {
  int exit_code = 0;
  const auto parse = [&](std::vector<std::string> extra) {
    exit_code = 0;
    extra.insert(extra.end(), {"--model", "testcard", "--output", "a.mp4"});
    return ParseRenderOptions(extra, "", exit_code);
  };
  const auto extension = parse({"--extend", "s", "--new-frames", "72", "--overlap", "9"});
  ASSERT_TRUE(extension);
  EXPECT_EQ(extension->source_file, "s");
  EXPECT_EQ(extension->source.begin, model::Source::Begin::kExtend);
  EXPECT_EQ(extension->source.extend, (model::Source::Extend{72, 9}));
  const auto retake =
      parse({"--retake", "s", "--from", "1.5", "--to", "3", "--keep-sound", "--prompt", "a fox"});
  ASSERT_TRUE(retake);
  EXPECT_EQ(retake->source.retake, (model::Source::Retake{1.5, 3, false, true}));
  EXPECT_EQ(retake->spec.prompt, "a fox");
  const std::vector<std::string> good = {"--retake", "s", "--to", "3"};
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--width", "96"},
                                               {"--num-frames", "9"},
                                               {"--image", "i.png"},
                                               {"--stop-after-pass", "1"},
                                               {"--new-frames", "8"},
                                               {"--promote", "s"}}) {
    std::vector<std::string> flags = good;
    flags.insert(flags.end(), more.begin(), more.end());
    EXPECT_FALSE(parse(flags)) << more[0];
    EXPECT_EQ(exit_code, kUsage);
  }
  EXPECT_TRUE(parse({"--extend", "s", "--new-frames", "8", "--join"})->source.extend.join);
  EXPECT_FALSE(parse({"--retake", "s", "--to", "1", "--join"})) << "of an extension alone";
  EXPECT_FALSE(parse({"--extend", "s"})) << "by how much?";
  EXPECT_FALSE(parse({"--retake", "s"})) << "until when?";
  EXPECT_FALSE(parse({"--from", "1", "--prompt", "a fox"})) << "of what?";
}

}  // namespace
}  // namespace reel::render
