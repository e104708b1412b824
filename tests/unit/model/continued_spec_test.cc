// SPDX-License-Identifier: Apache-2.0
#include "model/continued_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/model/resolve_example.h"

namespace reel::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

GenerationSpec VideoOf(const std::string& preset) {
  GenerationSpec sent;
  sent.prompt = "a fox";
  sent.negative_prompt = "fog";
  sent.preset = preset;
  sent.width = sent.height = 192;
  sent.num_frames = 49;
  sent.frame_rate = 30;
  sent.guidance_scale = 2;
  sent.seed = 5;
  sent.adapters = {{"grain", 0.5}};
  Resolution resolution = ResolveExample(sent);
  EXPECT_THAT(resolution.violations, IsEmpty());
  return resolution.spec;
}

GenerationSpec AskedExtension(int num_frames, int overlap_frames = 0) {
  GenerationSpec spec;
  spec.source = Source{.video = "videos/v", .begin = Source::Begin::kExtend};
  spec.source->extend = {num_frames, overlap_frames};
  return spec;
}

GenerationSpec AskedRetake(double begin, double end) {
  GenerationSpec spec;
  spec.source = Source{.video = "videos/v", .begin = Source::Begin::kRetake};
  spec.source->retake = {.begin = begin, .end = end};
  return spec;
}

// Filled from the video and resolved.
GenerationSpec Filled(GenerationSpec request, const GenerationSpec& video) {
  EXPECT_THAT(FillContinued(video, request), IsEmpty());
  Resolution resolution = ResolveExample(request);
  EXPECT_THAT(resolution.violations, IsEmpty());
  EXPECT_EQ(ResolveExample(resolution.spec).spec, resolution.spec) << "resolves to itself";
  return resolution.spec;
}

TEST(FillContinued, WhatIsLeftOutIsTheVideosButForTheSeed) {
  const GenerationSpec video = VideoOf("small");
  const GenerationSpec retake = Filled(AskedRetake(0.5, 1), video);
  GenerationSpec expected = video;
  expected.source = retake.source;
  expected.seed = 7;  // a fresh one
  EXPECT_EQ(retake, expected);
}

TEST(FillContinued, WhatIsSetIsTheRequests) {
  GenerationSpec request = AskedRetake(0.5, 1);
  request.prompt = "an owl";
  request.seed = 9;
  request.num_inference_steps = 3;
  const GenerationSpec retake = Filled(request, VideoOf("small"));
  EXPECT_EQ(retake.prompt, "an owl");
  EXPECT_EQ(retake.seed, 9U);
  EXPECT_EQ(retake.num_inference_steps, 3);
  EXPECT_EQ(retake.guidance_scale, 2);
}

TEST(FillContinued, AnotherPresetStandsInPlaceOfTheVideosValues) {
  GenerationSpec request = AskedRetake(0.5, 1);
  request.preset = "distilled-4";
  const GenerationSpec retake = Filled(request, VideoOf("small"));
  EXPECT_THAT(retake.timesteps, ElementsAre(1000, 900, 500, 100));
  EXPECT_EQ(retake.guidance_scale, 1);
  EXPECT_EQ(retake.width, 192) << "sizes are the video's all the same";
  EXPECT_EQ(retake.frame_rate, 30);
}

TEST(FillContinued, AnExtensionHasTheOverlapAndTheNewFrames) {
  const GenerationSpec extension = Filled(AskedExtension(72), VideoOf("small"));
  EXPECT_EQ(extension.source->extend.overlap_frames, 25);
  EXPECT_EQ(extension.num_frames, 97);
  EXPECT_EQ(Filled(AskedExtension(8, 49), VideoOf("small")).num_frames, 57);
  GenerationSpec brief = VideoOf("small");
  brief.num_frames = 9;
  EXPECT_EQ(Filled(AskedExtension(8), brief).num_frames, 17)
      << "of a shorter video all frames are held";
}

TEST(FillContinued, RefusesAnOverlapThatIsLongerThanTheVideoAndDrafts) {
  GenerationSpec longer = AskedExtension(8, 57);
  EXPECT_THAT(FillContinued(VideoOf("small"), longer),
              ElementsAre(Violation("source.extend.overlap_frames", "nearest: 49")));
  GenerationSpec draft = VideoOf("twice");
  draft.stop_after_pass = 1;
  GenerationSpec retake = AskedRetake(0, 1);
  EXPECT_THAT(FillContinued(draft, retake), ElementsAre(Violation("source.video", "is a draft")));
}

GenerationSpec AskedJoin(int num_frames) {
  GenerationSpec spec = AskedExtension(num_frames);
  spec.source->extend.join = true;
  return spec;
}

TEST(FillContinued, AJoinedFileHasAllFramesAndTheVideosEncoding) {
  GenerationSpec video = VideoOf("small");
  video.encoding.crf = 30;
  video.encoding.speed = EncodingSpeed::kFaster;
  const GenerationSpec joined = Filled(AskedJoin(72), video);
  EXPECT_EQ(joined.num_frames, 97) << "what is made";
  EXPECT_EQ(joined.source->extend.source_frames, 49);
  EXPECT_EQ(joined.file_frames(), 121);
  EXPECT_EQ(joined.encoding, video.encoding);
  const GenerationSpec again = Filled(AskedJoin(8), joined);
  EXPECT_EQ(again.source->extend.source_frames, 121) << "the joined file is the next one's source";
  EXPECT_EQ(again.file_frames(), 129);
  GenerationSpec own = AskedJoin(8);
  own.preset = "distilled-4";
  EXPECT_EQ(Filled(own, video).encoding, video.encoding) << "whatever the preset says";
}

TEST(FillContinued, RefusesToJoinWhatIsEncodedOtherwise) {
  const GenerationSpec video = VideoOf("small");
  const auto why = [&](auto change) {
    GenerationSpec of = video, request = AskedJoin(8);
    change(of, request);
    return FillContinued(of, request);
  };
  EXPECT_THAT(why([](auto&, auto& request) { request.encoding.crf = 30; }),
              ElementsAre(Violation("source.extend.join", "encoding.crf is another")));
  EXPECT_THAT(why([](auto&, auto& request) { request.encoding.speed = EncodingSpeed::kMedium; }),
              ElementsAre(Violation("source.extend.join", "encoding.speed is another")));
  EXPECT_THAT(why([](auto& of, auto& request) {
                of.sound = true;
                request.sound = false;
              }),
              ElementsAre(Violation("source.extend.join", "the request none")));
  EXPECT_THAT(why([](auto& of, auto&) { of.normalise_loudness = -16; }),
              ElementsAre(Violation("source.extend.join", "one loudness")));
  EXPECT_THAT(why([](auto&, auto& request) { request.source->extend.source_frames = 41; }),
              ElementsAre(Violation("source.extend.source_frames", "nearest: 49")));
  EXPECT_THAT(why([](auto&, auto& request) {
                request.encoding.crf = 18;
                request.source->extend.source_frames = 49;
              }),
              IsEmpty());
}

TEST(FillContinued, RefusesARetakeOfAJoinedVideoWhoseBeginIsNotThere) {
  GenerationSpec retake = AskedRetake(0, 1);
  EXPECT_THAT(FillContinued(Filled(AskedJoin(72), VideoOf("small")), retake),
              ElementsAre(Violation("source.video", "keeps its last 25 frames")));
}

TEST(FillContinued, AVideoOfTwoPassesNeedsAPresetOfOne) {
  GenerationSpec request = AskedRetake(0, 1);
  const GenerationSpec video = VideoOf("twice");
  EXPECT_THAT(FillContinued(video, request), IsEmpty());
  EXPECT_THAT(ResolveExample(request).violations,
              ElementsAre(Violation("preset", "; nearest: distilled-4, small")));
  request = AskedRetake(0, 1);
  request.preset = "small";
  EXPECT_EQ(Filled(request, video).preset, "small");
}

}  // namespace
}  // namespace reel::model
