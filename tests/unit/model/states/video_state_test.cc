// SPDX-License-Identifier: Apache-2.0
#include "model/states/video_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>

#include "absl/strings/str_replace.h"
#include "kernels/base/digest/sha256.h"
#include "tests/unit/model/example_card.h"

namespace reel::model {
namespace {

using ::testing::HasSubstr;

std::string BytesOf(std::vector<float> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

class VideoStateTest : public ::testing::Test {
 protected:
  VideoStateTest() {
    draft_.model = "example";
    draft_.preset = "twice";
    draft_.prompt = "a fox \u00e4";
    draft_.seed = 7;
    draft_.width = 192;
    draft_.height = 128;
    draft_.stop_after_pass = 1;
    draft_.keep_state = true;
    Condition condition;
    condition.bytes = std::make_shared<const std::string>("a picture\0with zeros", 20);
    condition.size_bytes = 20;
    condition.sha256 = Sha256Hex(*condition.bytes);
    draft_.conditions.push_back(condition);
    made_.passes = 1;
    made_.tensors[PassState::kLatents] = {
        StateTensor::Type::kF32, {1, 2, 1, 1, 2}, BytesOf({1, -2.5, 0, 1e-30F})};
    made_.tensors["generator"] = {StateTensor::Type::kU8, {3}, "abc"};
  }
  std::string File() const { return WriteState(draft_, card_, made_); }
  GenerationSpec Promotion() const {
    GenerationSpec spec = draft_;
    spec.stop_after_pass.reset();
    spec.source = Source{.video = "videos/v", .begin = Source::Begin::kPromote};
    spec.conditions[0].bytes = nullptr;
    return spec;
  }
  // Why the promotion cannot begin from the draft's state.
  std::string Misfit(const GenerationSpec& promotion) const {
    return std::string(CheckFits(*ReadState(File()), promotion, card_).message());
  }

  ModelCard card_ = ExampleCard();
  GenerationSpec draft_;
  PassState made_;
};

TEST_F(VideoStateTest, GivesBackWhatWasWritten) {
  card_.weights_sha256 = std::string(64, 'w');
  card_.parameters = 5'000'000'000;
  const auto state = ReadState(File());
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->made, made_);
  EXPECT_EQ(state->weights_sha256, card_.weights_sha256);
  EXPECT_EQ(state->parameters, 5'000'000'000);
  EXPECT_FALSE(state->build.empty());
  ASSERT_NE(state->spec.conditions[0].bytes, nullptr);
  EXPECT_EQ(*state->spec.conditions[0].bytes, *draft_.conditions[0].bytes);
  GenerationSpec kept = draft_;
  kept.keep_state.reset();  // says nothing of the video
  EXPECT_EQ(state->spec, kept);
}

TEST_F(VideoStateTest, TheSameVideoGivesTheSameBytes) { EXPECT_EQ(File(), File()); }

TEST_F(VideoStateTest, KeepsTheFileOfAWholeVideoIfThereIsRoomForIt) {
  draft_.stop_after_pass.reset();
  const std::string bytes("an MP4\0 of bytes", 16);
  const auto whole = ReadState(WriteState(draft_, card_, made_, bytes));
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->file, bytes);
  EXPECT_EQ(whole->made, made_) << "the file is none of what the passes made";
  EXPECT_EQ(ReadState(File())->file, "");
  EXPECT_EQ(WriteState(draft_, card_, made_,
                       std::string(static_cast<size_t>(PassState::kMostFileBytes), 'x')),
            File());
}

TEST_F(VideoStateTest, KeepsTheBytesOfConditionsOfADraftAlone) {
  draft_.stop_after_pass.reset();
  const auto whole = ReadState(File());
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->spec.conditions[0].bytes, nullptr);
  EXPECT_EQ(whole->made, made_);
}

TEST_F(VideoStateTest, DescribesConditionsThatOnlyHaveBytes) {
  draft_.conditions[0].sha256.clear();
  const auto state = ReadState(File());
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->spec.conditions[0].sha256, Sha256Hex(*draft_.conditions[0].bytes));
}

TEST_F(VideoStateTest, FitsTheDraftsOwnPromotionUnderAnyNameOfTheModel) {
  GenerationSpec promotion = Promotion();
  promotion.model = "the same under another name";
  promotion.worker = "another";
  promotion.keep_state = false;
  EXPECT_TRUE(CheckFits(*ReadState(File()), promotion, card_).ok());
}

TEST_F(VideoStateTest, NamesWhatDiffersOfTheRequestWithoutItsPrompt) {
  GenerationSpec promotion = Promotion();
  promotion.prompt = "an owl";
  promotion.width = 256;
  promotion.conditions[0].sha256 = std::string(64, 'd');
  const std::string why = Misfit(promotion);
  EXPECT_THAT(why, HasSubstr("what differs: conditions, prompt, width"));
  EXPECT_THAT(why, Not(HasSubstr("owl")));
  promotion = Promotion();
  promotion.adapters = {{"grain", 0.5}};
  EXPECT_THAT(Misfit(promotion), HasSubstr("what differs: adapters"));
}

TEST_F(VideoStateTest, NamesWhatDiffersOfTheModel) {
  card_.weights_sha256 = std::string(64, 'a');
  card_.fixed_adapters = {{.name = "style", .scale = 0.5}};
  const auto state = ReadState(File());
  ASSERT_TRUE(state.ok());
  ModelCard other = card_;
  other.weights_sha256 = std::string(64, 'b');
  EXPECT_THAT(std::string(CheckFits(*state, Promotion(), other).message()),
              HasSubstr("what differs: the weights"));
  other.weights_sha256.clear();
  EXPECT_TRUE(CheckFits(*state, Promotion(), other).ok())
      << "no manifest there: nothing to compare";
  other.fixed_adapters[0].scale = 0.6;
  other.parameters = 1;
  other.family = "another";
  EXPECT_THAT(std::string(CheckFits(*state, Promotion(), other).message()),
              HasSubstr("the family of the model, the number of parameters, the adapters"));
}

TEST_F(VideoStateTest, AWholeVideoHasNothingToPromote) {
  draft_.stop_after_pass.reset();
  EXPECT_THAT(Misfit(Promotion()), HasSubstr("no draft"));
}

TEST_F(VideoStateTest, FitsRequestsThatHoldItsLatentsWhateverTheyAskForBeside) {
  draft_.stop_after_pass.reset();
  draft_.preset = "small";
  draft_.num_frames = 49;
  GenerationSpec retake = draft_;
  retake.prompt = "an owl";
  retake.num_inference_steps = 3;
  retake.conditions.clear();
  retake.source = Source{.video = "videos/v", .begin = Source::Begin::kRetake};
  EXPECT_EQ(Misfit(retake), "");
  GenerationSpec extension = retake;
  extension.source->begin = Source::Begin::kExtend;
  extension.source->extend = {8, 49};
  extension.num_frames = 57;
  EXPECT_EQ(Misfit(extension), "");

  extension.source->extend.overlap_frames = 57;
  EXPECT_THAT(Misfit(extension), HasSubstr("what differs: num_frames, fewer than the overlap"));
  retake.num_frames = 41;
  retake.frame_rate = 30;
  retake.width = 256;
  retake.adapters = {{"grain", 0.5}};
  EXPECT_THAT(Misfit(retake), HasSubstr("what differs: the size of its latents, 192x128 instead of "
                                        "256x128, frame_rate, num_frames, adapters"));
  retake = extension;
  card_.family = "another";
  const auto state = ReadState(File());
  retake.source->extend.overlap_frames = 9;
  ModelCard other = card_;
  other.family = "the example's";
  EXPECT_THAT(std::string(CheckFits(*state, retake, other).message()),
              HasSubstr("the family of the model"));
}

TEST_F(VideoStateTest, IsHeldByNothingAsADraftsOrWhereItsLastPassIsLarger) {
  GenerationSpec retake = draft_;
  retake.source = Source{.video = "videos/v", .begin = Source::Begin::kRetake};
  EXPECT_THAT(Misfit(retake), HasSubstr("is a draft"));
  draft_.stop_after_pass.reset();
  draft_.preset = "twice";
  EXPECT_THAT(Misfit(retake), HasSubstr("the size of its latents, 256x128 instead of 192x128"));
}

TEST_F(VideoStateTest, PromotesTheDraftByItself) {
  const auto state = ReadState(File());
  ASSERT_TRUE(state.ok());
  GenerationSpec promotion = PromotionOf(*state);
  EXPECT_TRUE(promotion.is_promotion());
  EXPECT_FALSE(promotion.stop_after_pass.has_value());
  EXPECT_EQ(*promotion.conditions[0].bytes, *draft_.conditions[0].bytes);
  EXPECT_TRUE(CheckFits(*state, promotion, card_).ok());
}

TEST_F(VideoStateTest, RefusesEveryFileThatIsCut) {
  const std::string file = File();
  for (size_t length = 0; length < file.size(); ++length) {
    EXPECT_EQ(ReadState(std::string_view(file).substr(0, length)).status().code(),
              absl::StatusCode::kFailedPrecondition)
        << length;
  }
  EXPECT_FALSE(ReadState(file + "x").ok());
}

TEST_F(VideoStateTest, RefusesWhatIsNoState) {
  const auto why = [this](const std::string& from, const std::string& to) {
    EXPECT_EQ(from.size(), to.size());
    const auto read = ReadState(absl::StrReplaceAll(File(), {{from, to}}));
    return std::string(read.status().message());
  };
  EXPECT_THAT(why("reel.state.1", "reel.state.2"), HasSubstr("not of the format"));
  EXPECT_THAT(why("\"passes\":\"1\"", "\"passes\":\"0\""), HasSubstr("a number"));
  EXPECT_THAT(why("\"passes\":\"1\"", "\"passes\":\"x\""), HasSubstr("a number"));
  EXPECT_THAT(why("a picture", "a pixture"), HasSubstr("bytes of a condition"));
  EXPECT_THAT(why("condition.0", "condition.9"), HasSubstr("bytes of a condition"));
  EXPECT_THAT(why("\\\"width\\\":192", "\\\"width\\\":1.9"), HasSubstr("width"));
  EXPECT_THAT(why("\"F32\"", "\"I32\""), HasSubstr("neither of F32 nor of U8"));
}

TEST_F(VideoStateTest, RefusesLatentsThatAreNotFinite) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    made_.tensors[PassState::kLatents].bytes = BytesOf({1, bad, 0, 0});
    EXPECT_THAT(std::string(ReadState(File()).status().message()), HasSubstr("NaN or Inf"));
  }
}

TEST_F(VideoStateTest, RefusesMoreBytesThanAnyStateHas) {
  const std::string file = File();
  const std::string_view huge(file.data(),
                              size_t{PassState::kMostFileBytes} + 1);  // refused unread
  EXPECT_THAT(std::string(ReadState(huge).status().message()), HasSubstr("above"));
}

}  // namespace
}  // namespace reel::model
