// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/condition_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <string>

#include "tests/unit/server/worker/media/ffmpeg.h"

namespace reel::worker {
namespace {

using ::testing::HasSubstr;
using ::testing::IsNull;

// The smallest PNG: one white pixel.
std::string OnePixel() {
  return std::string(
      "\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0\x3A\x7E\x9B\x55"
      "\0\0\0\nIDAT\x78\x9C\x63\xF8\x0F\0\x01\x01\x01\0\xB1\x38\xF6\x14\0\0\0\0IEND\xAE\x42\x60"
      "\x82",
      67);
}

model::Condition Of(model::Condition::Kind kind, std::string bytes, int frame = 0) {
  model::Condition condition;
  condition.kind = kind;
  condition.frame_index = frame;
  condition.bytes = std::make_shared<const std::string>(std::move(bytes));
  return condition;
}
model::Condition Picture(std::string bytes) {
  return Of(model::Condition::Kind::kImage, std::move(bytes));
}
model::Condition Clip(std::string bytes, int frame = 0) {
  return Of(model::Condition::Kind::kVideo, std::move(bytes), frame);
}

model::GenerationSpec Spec(std::vector<model::Condition> conditions) {
  model::GenerationSpec spec;
  spec.width = 96;
  spec.height = 64;
  spec.num_frames = 33;
  spec.conditions = std::move(conditions);
  return spec;
}

absl::Status Decode(model::GenerationSpec& spec, const DecodeLimits& limits = {}) {
  const std::atomic<bool> stop{false};
  return DecodeConditions(spec, limits, stop);
}

std::string ErrorOf(model::GenerationSpec spec, const DecodeLimits& limits = {}) {
  const absl::Status status = Decode(spec, limits);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  for (const auto& condition : spec.conditions) EXPECT_THAT(condition.pixels, IsNull());
  return std::string(status.message());
}

// `frames` pictures of 96 x 64, moving, with frames that depend on later ones.
std::string MakeClip(int frames, const std::string& options = "-c:v libx264 -bf 3",
                     const std::string& ending = ".mp4") {
  return MakeWithFfmpeg("-f lavfi -i testsrc2=size=96x64:rate=25 -frames:v " +
                            std::to_string(frames) + " -pix_fmt yuv420p " + options,
                        ending);
}

TEST(DecodeConditions, ScalesAPictureToTheVideo) {
  model::GenerationSpec spec = Spec({Picture(OnePixel())});
  ASSERT_TRUE(Decode(spec).ok());
  const model::ConditionPixels& pixels = *spec.conditions[0].pixels;
  EXPECT_EQ(pixels.width, 96);
  EXPECT_EQ(pixels.height, 64);
  EXPECT_EQ(pixels.num_frames, 1);
  EXPECT_EQ(pixels.rgb, std::vector<uint8_t>(96 * 64 * 3, 255));
}

TEST(DecodeConditions, CompressesPicturesAloneAndOnlyIfAsked) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  const std::string png =
      MakeWithFfmpeg("-f lavfi -i testsrc2=size=96x64:rate=1 -frames:v 1 -pix_fmt rgb24", ".png");
  ASSERT_FALSE(png.empty());
  const auto pixels = [&](std::optional<int> crf) {
    model::GenerationSpec spec = Spec({Picture(png), Clip(MakeClip(9))});
    spec.condition_crf = crf;
    const absl::Status status = Decode(spec);
    EXPECT_TRUE(status.ok()) << status;
    return std::pair(spec.conditions[0].pixels->rgb, spec.conditions[1].pixels->rgb);
  };
  const auto plain = pixels(std::nullopt), never = pixels(0), compressed = pixels(33);
  EXPECT_TRUE(never == plain);
  EXPECT_TRUE(compressed.first != plain.first);
  EXPECT_TRUE(compressed.second == plain.second);
  model::GenerationSpec small = Spec({Picture(OnePixel())});
  small.condition_crf = 33;
  EXPECT_THAT(ErrorOf(small), HasSubstr("conditions[0] is 1x1 pixels"));
}

TEST(DecodeConditions, LeavesDecodedOnesAlone) {
  model::GenerationSpec spec = Spec({Picture("not read")});
  const auto pixels = std::make_shared<const model::ConditionPixels>();
  spec.conditions[0].pixels = pixels;
  ASSERT_TRUE(Decode(spec).ok());
  EXPECT_EQ(spec.conditions[0].pixels, pixels);
}

TEST(DecodeConditions, NamesTheConditionAndWhatIsWrong) {
  EXPECT_THAT(ErrorOf(Spec({Picture(OnePixel()), Picture("no picture")})),
              HasSubstr("conditions[1] is not a PNG, JPEG or WebP picture"));
  EXPECT_THAT(ErrorOf(Spec({Clip(OnePixel())})), HasSubstr("conditions[0] is not an MP4 clip"));
  EXPECT_THAT(ErrorOf(Spec({Clip("", 40)})), HasSubstr("begins after the video's last frame"));
  model::GenerationSpec lost = Spec({Picture("x")});
  lost.conditions[0].bytes = nullptr;
  EXPECT_EQ(Decode(lost).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(DecodeConditions, HoldsItsLimits) {
  DecodeLimits limits;
  limits.max_bytes = 96 * 64 * 3;
  EXPECT_THAT(ErrorOf(Spec({Picture(OnePixel()), Picture(OnePixel())}), limits),
              HasSubstr("conditions[1] is too large"));
  limits = {};
  limits.max_time = absl::ZeroDuration();
  EXPECT_THAT(ErrorOf(Spec({Picture(OnePixel())}), limits), HasSubstr("takes too long"));
  EXPECT_EQ(DecodeLimits::For(Spec({}), {}, 1).max_bytes, model::kMostConditionBytes)
      << "with which the memory of clips is reckoned";
}

TEST(DecodeConditions, GivesTheFramesThatFfmpegGives) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  for (const char* options :
       {"-c:v libx264 -bf 3",
        "-c:v libx264 -colorspace bt709 -color_primaries bt709 -color_trc bt709",
        "-c:v libx264 -movflags frag_keyframe+empty_moov -g 4", "-c:v mpeg4"}) {
    const std::string clip = MakeClip(17, options);
    ASSERT_FALSE(clip.empty()) << options;
    model::GenerationSpec spec = Spec({Clip(clip)});
    const absl::Status status = Decode(spec);
    ASSERT_TRUE(status.ok()) << status << options;
    const model::ConditionPixels& pixels = *spec.conditions[0].pixels;
    EXPECT_EQ(pixels.num_frames, 17) << options;
    const std::string expected = DecodeRgb(clip);
    EXPECT_TRUE(std::string(pixels.rgb.begin(), pixels.rgb.end()) == expected) << options;
  }
}

TEST(DecodeConditions, TurnsAClipAsItsTrackSays) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  std::string turned = MakeWithFfmpeg(
      "-f lavfi -i testsrc2=size=64x96:rate=25 -frames:v 2 -pix_fmt yuv420p -c:v libx264", ".mp4");
  ASSERT_NE(turned.find("tkhd"), std::string::npos);
  // A quarter turn clockwise, in the track's matrix.
  const std::string matrix("\0\0\0\0\0\1\0\0\0\0\0\0\xFF\xFF\0\0\0\0\0\0\0\0\0\0", 24);
  turned.replace(turned.find("tkhd") + 44, matrix.size(), matrix);
  model::GenerationSpec spec = Spec({Clip(turned)});
  ASSERT_TRUE(Decode(spec).ok());
  const std::string expected = DecodeRgb(turned);
  const model::ConditionPixels& pixels = *spec.conditions[0].pixels;
  ASSERT_EQ(expected.size(), pixels.rgb.size());
  // ffmpeg turns before it converts colours, so that chroma lands a little beside ours.
  int64_t sum = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    sum += std::abs(pixels.rgb[i] - static_cast<uint8_t>(expected[i]));
  }
  EXPECT_LT(static_cast<double>(sum) / static_cast<double>(expected.size()), 4.0);
}

TEST(DecodeConditions, ReadsAClipUpToTheVideosEndOnly) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  model::GenerationSpec spec = Spec({Clip(MakeClip(40)), Clip(MakeClip(17), 24)});
  ASSERT_TRUE(Decode(spec).ok());
  EXPECT_EQ(spec.conditions[0].pixels->num_frames, 33);
  EXPECT_EQ(spec.conditions[1].pixels->num_frames, 9);
}

TEST(DecodeConditions, RefusesClipsOfOtherKinds) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  EXPECT_THAT(ErrorOf(Spec({Clip(MakeClip(2, "-c:v mjpeg", ".mov"))})),
              HasSubstr("coded as mjpeg"));
  EXPECT_THAT(ErrorOf(Spec({Clip(MakeClip(2, "-c:v mpeg4", ".mkv"))})), HasSubstr("not an MP4"));
  const std::string tone = MakeWithFfmpeg("-f lavfi -i sine=duration=0.1 -c:a aac", ".mp4");
  EXPECT_THAT(ErrorOf(Spec({Clip(tone)})), HasSubstr("contains no video"));
  DecodeLimits limits;
  limits.max_pixels = 95 * 64;
  EXPECT_THAT(ErrorOf(Spec({Clip(MakeClip(2))}), limits), HasSubstr("has 96x64 pixels"));
}

TEST(DecodeConditions, SurvivesBrokenClips) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  const std::string clip = MakeClip(9);
  // Over many runs every byte is one of those.
  constexpr size_t kStep = 21;
  for (size_t at = std::random_device{}() % kStep; at < clip.size(); at += kStep) {
    std::string broken = clip;
    broken[at] = static_cast<char>(~broken[at]);
    model::GenerationSpec spec = Spec({Clip(broken)});
    const absl::Status status = Decode(spec);
    EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status)) << at << status;
    spec = Spec({Clip(clip.substr(0, at))});
    const absl::Status cut = Decode(spec);
    EXPECT_TRUE(cut.ok() || absl::IsInvalidArgument(cut)) << at << cut;
  }
}

// An index of a few bytes that stands for a quarter of a billion samples.
TEST(DecodeConditions, SurvivesAnIndexThatIsABomb) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "ffmpeg and ffprobe are not installed";
  std::string bomb = MakeClip(9);
  const size_t sizes = bomb.find("stsz");
  ASSERT_NE(sizes, std::string::npos);
  bomb.replace(sizes + 8, 8, std::string("\0\0\0\1\x0F\xFF\xFF\xFF", 8));
  model::GenerationSpec spec = Spec({Clip(bomb)});
  EXPECT_TRUE(absl::IsInvalidArgument(Decode(spec)));
}

TEST(ConditionDecoder, SignalsWhenItIsDone) {
  Mutex mutex;
  CondVar changed;
  bool signalled = false;
  ConditionDecoder decoder(Spec({Picture(OnePixel())}), {}, [&] {
    MutexLock lock(mutex);
    signalled = true;
    changed.NotifyAll();
  });
  {
    MutexLock lock(mutex);
    while (!signalled) changed.Wait(mutex);
  }
  ASSERT_TRUE(decoder.done());
  const auto conditions = decoder.result();
  ASSERT_TRUE(conditions.ok()) << conditions.status();
  EXPECT_EQ((*conditions)[0].pixels->num_frames, 1);
}

TEST(ConditionDecoder, MayBeAbandonedAtAnyTime) {
  for (int i = 0; i < 20; ++i) {
    ConditionDecoder decoder(Spec({Picture(OnePixel()), Picture("broken")}), {}, [] {});
    decoder.Abandon();
  }
}

// A clip of `seconds` whose frames are grey, one shade brighter each, at a rate of its own.
std::string GreyClip(int frames, int rate, const std::string& sound = "",
                     const std::string& size = "96x64") {
  return MakeWithFfmpeg("-f lavfi -i nullsrc=size=" + size + ":rate=" + std::to_string(rate) +
                            ",format=gray,geq=lum=16+4*N " + sound + " -frames:v " +
                            std::to_string(frames) + " -pix_fmt yuv420p -c:v libx264 -qp 0",
                        ".mp4");
}

model::GenerationSpec RefinementOf(std::string bytes, int frames, double rate) {
  model::GenerationSpec spec = Spec({Clip(std::move(bytes))});
  spec.conditions[0].use = model::Condition::Use::kRefine;
  spec.num_frames = frames;
  spec.frame_rate = rate;
  spec.sound = true;
  return spec;
}

DecodeLimits RefinedTo(int width, int height) {
  DecodeLimits limits;
  limits.refined = {width, height};
  limits.sound = {.sample_rate = 16'000, .channels = 2};
  limits.carried_sound = {.sample_rate = 48'000, .channels = 2};
  return limits;
}

// Which of the clip's frames each of the video's is.
std::vector<int> Shown(const model::ConditionPixels& pixels) {
  std::vector<int> shown;
  const size_t each = pixels.rgb.size() / static_cast<size_t>(pixels.num_frames);
  for (size_t at = 0; at < pixels.rgb.size(); at += each) {
    shown.push_back(static_cast<int>(std::lround((pixels.rgb[at] - 16) / 4.0)));
  }
  return shown;
}

TEST(DecodeRefined, ShowsAClipAtTheVideosRateAndTheFirstPasssSize) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  struct Case {
    int frames, rate;
    double video_rate;
    int video_frames;
    std::vector<int> shown;
    bool is_cut;
  };
  for (const Case& one : {Case{9, 24, 24, 9, {0, 1, 2, 3, 4, 5, 6, 7, 8}, false},
                          Case{9, 12, 24, 9, {0, 0, 1, 1, 2, 2, 3, 3, 4}, true},
                          Case{3, 12, 24, 9, {0, 0, 1, 1, 2, 2}, false},
                          Case{18, 48, 24, 9, {0, 2, 4, 6, 8, 10, 12, 14, 16}, false},
                          Case{12, 30, 25, 9, {0, 1, 2, 4, 5, 6, 7, 8, 10}, true},
                          Case{20, 24, 24, 9, {0, 1, 2, 3, 4, 5, 6, 7, 8}, true}}) {
    model::GenerationSpec spec = RefinementOf(GreyClip(one.frames, one.rate, "", "160x90"),
                                              one.video_frames, one.video_rate);
    const absl::Status status = Decode(spec, RefinedTo(48, 32));
    ASSERT_TRUE(status.ok()) << status;
    const model::ConditionPixels& pixels = *spec.conditions[0].pixels;
    EXPECT_EQ(pixels.width, 48);
    EXPECT_EQ(pixels.height, 32);
    EXPECT_EQ(Shown(pixels), one.shown) << one.rate << " to " << one.video_rate;
    EXPECT_EQ(pixels.is_cut, one.is_cut) << one.rate << " to " << one.video_rate;
    EXPECT_THAT(spec.conditions[0].carried_sound, IsNull());
  }
}

TEST(DecodeRefined, TakesTheClipsSoundUnlessTheVideoHasNoneOrItsOwn) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  const std::string clip =
      GreyClip(24, 24, "-f lavfi -i sine=frequency=440:sample_rate=48000:duration=1 -c:a aac");
  model::GenerationSpec spec = RefinementOf(clip, 25, 24);
  ASSERT_TRUE(Decode(spec, RefinedTo(48, 32)).ok());
  ASSERT_NE(spec.conditions[0].carried_sound, nullptr);
  EXPECT_EQ(spec.conditions[0].carried_sound->format.sample_rate, 48'000);
  // ffmpeg ends a file with its pictures, a packet or six before a second.
  EXPECT_GT(spec.conditions[0].carried_sound->samples(), 40'000);
  EXPECT_LE(spec.conditions[0].carried_sound->samples(), 50'000);
  EXPECT_EQ(spec.conditions[0].sound->format.sample_rate, 16'000);
  EXPECT_EQ(spec.conditions[0].pixels->num_frames, 24);
  DecodeLimits deaf = RefinedTo(48, 32);
  deaf.sound = {};
  spec = RefinementOf(clip, 25, 24);
  ASSERT_TRUE(Decode(spec, deaf).ok());
  EXPECT_NE(spec.conditions[0].carried_sound, nullptr) << "a model without an encoder of sound";
  EXPECT_THAT(spec.conditions[0].sound, IsNull());
  spec = RefinementOf(clip, 25, 24);
  spec.sound = false;
  ASSERT_TRUE(Decode(spec, RefinedTo(48, 32)).ok());
  EXPECT_THAT(spec.conditions[0].carried_sound, IsNull());
}

TEST(DecodeRefined, HoldsTheLimitsOfAllConditions) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  const std::string slow = GreyClip(2, 1);
  DecodeLimits limits = RefinedTo(48, 32);
  limits.max_bytes = int64_t{48} * 32 * 3 * 10;
  EXPECT_THAT(ErrorOf(RefinementOf(slow, 33, 24), limits), HasSubstr("conditions[0] is too large"))
      << "a frame that stands still counts each time";
  EXPECT_THAT(ErrorOf(RefinementOf("no clip", 9, 24), limits), HasSubstr("is not an MP4 clip"));
}

TEST(DecodeReference, KeepsTheFramesAndTheSizeThatItsAdapterWants) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  struct Case {
    int frames, rate, every;
    std::vector<int> shown;
    bool is_cut;
  };
  for (const Case& one : {Case{9, 24, 1, {0, 1, 2, 3, 4, 5, 6, 7, 8}, false},
                          Case{20, 24, 4, {0, 1, 5}, true}, Case{9, 24, 2, {0, 1, 3, 5, 7}, false},
                          Case{18, 48, 4, {0, 2, 10}, false}, Case{5, 24, 4, {0, 1}, false}}) {
    model::GenerationSpec spec = RefinementOf(GreyClip(one.frames, one.rate, "", "160x90"), 9, 24);
    spec.conditions[0].use = model::Condition::Use::kReference;
    spec.adapters = {{.name = "depth",
                      .scale = 1,
                      .path = "/depth",
                      .reference = model::ReferenceScale{2, one.every}}};
    const absl::Status status = Decode(spec, DecodeLimits::For(spec, {}, 16'000'000));
    ASSERT_TRUE(status.ok()) << status;
    const model::ConditionPixels& pixels = *spec.conditions[0].pixels;
    EXPECT_EQ(pixels.width, 48);
    EXPECT_EQ(pixels.height, 32);
    EXPECT_EQ(Shown(pixels), one.shown) << one.rate << ", one of " << one.every;
    EXPECT_EQ(pixels.is_cut, one.is_cut);
    EXPECT_THAT(spec.conditions[0].sound, IsNull());
  }
  model::GenerationSpec spec = RefinementOf(GreyClip(9, 24), 9, 24);
  spec.conditions[0].use = model::Condition::Use::kReference;
  EXPECT_THAT(ErrorOf(spec), HasSubstr("no adapter wants one"));
}

}  // namespace
}  // namespace reel::worker
