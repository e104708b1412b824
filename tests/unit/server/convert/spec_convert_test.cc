// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "client/origin.h"
#include "kernels/base/digest/sha256.h"
#include "model/origin/origin_text.h"
#include "model/states/spec_json.h"
#include "nlohmann/json.hpp"
#include "server/convert/convert.h"
#include "tests/unit/server/convert/filled_message.h"

namespace reel {
namespace {

const std::string& BytesOf(const v1::Condition& condition) {
  if (condition.has_audio()) return condition.audio();
  return condition.has_video() ? condition.video() : condition.image();
}

void ClearBytes(v1::VideoSpec& spec) {
  spec.mutable_conditions(0)->set_image("");
  spec.mutable_conditions(1)->set_video("");
  spec.mutable_conditions(2)->set_audio("");
}

// A filled spec whose output-only fields are what the bytes make them.
v1::VideoSpec FilledSpec() {
  v1::VideoSpec spec;
  Fill(spec);
  spec.add_conditions()->set_audio("sound");
  for (v1::Condition& condition : *spec.mutable_conditions()) {
    const std::string& bytes = BytesOf(condition);
    condition.set_size_bytes(static_cast<int64_t>(bytes.size()));
    condition.set_sha256(Sha256Hex(bytes));
    condition.set_content_type("");
  }
  return spec;
}

TEST(SpecConvert, CarriesEveryFieldBothWays) {
  const v1::VideoSpec sent = FilledSpec();
  ASSERT_EQ(sent.conditions_size(), 3);
  ASSERT_TRUE(sent.conditions(0).has_image());
  ASSERT_TRUE(sent.conditions(1).has_video());
  EXPECT_EQ(Difference(sent, SpecToProto(SpecFromProto(sent), true)), "");
}

// The JSON that a kept state has of its spec.
TEST(SpecConvert, EveryFieldButWhatNamesAVideoIsInAStatesSpec) {
  v1::VideoSpec sent = FilledSpec();
  const auto again = model::SpecFromJson(model::SpecToJson(SpecFromProto(sent)));
  ASSERT_TRUE(again.ok()) << again.status();
  sent.clear_worker();
  sent.clear_keep_state();
  sent.clear_source();
  ClearBytes(sent);
  EXPECT_EQ(Difference(sent, SpecToProto(*again)), "");
}

// What a file of origin SPEC says, as `reel again` reads it.
TEST(SpecConvert, EveryFieldThatLeavesATraceInAFileIsReadAgainFromIt) {
  v1::VideoSpec sent = FilledSpec();
  const auto text = model::OriginOf(SpecFromProto(sent), {}, {"cpu", {{"rms_norm", "loops"}}});
  ASSERT_TRUE(text.ok()) << text.status();
  const auto read = client::ParseOrigin(*text);
  ASSERT_TRUE(read.ok()) << read.status() << "\n" << *text;
  EXPECT_EQ(read->device, "cpu");
  EXPECT_EQ(read->kernels.at("rms_norm"), "loops");
  sent.clear_worker();
  sent.clear_keep_state();
  sent.clear_source();
  sent.clear_preview();
  sent.mutable_kernels()->clear_experiment();
  sent.mutable_kernels()->clear_arm();
  ClearBytes(sent);
  EXPECT_EQ(Difference(sent, read->spec), "");
}

TEST(SpecConvert, DescribesConditionsWithoutTheirBytes) {
  v1::VideoSpec expected = FilledSpec();
  const model::GenerationSpec spec = SpecFromProto(expected);
  ClearBytes(expected);
  EXPECT_EQ(Difference(expected, SpecToProto(spec)), "");

  const model::GenerationSpec again = SpecFromProto(expected);
  EXPECT_EQ(again.conditions[1].kind, model::Condition::Kind::kVideo);
  EXPECT_EQ(again.conditions[2].kind, model::Condition::Kind::kAudio);
  EXPECT_EQ(again.conditions[0].bytes, nullptr);
  EXPECT_EQ(again.conditions[0].sha256, spec.conditions[0].sha256);
  EXPECT_EQ(Difference(expected, SpecToProto(again, true)), "");
}

TEST(SpecConvert, CarriesEveryWayToGoOnFromAVideo) {
  v1::VideoSpec sent;
  v1::Source& source = *sent.mutable_source();
  source.set_video("videos/a");
  source.mutable_extend()->set_num_frames(72);
  source.mutable_extend()->set_overlap_frames(9);
  source.mutable_extend()->set_join(true);
  source.mutable_extend()->set_source_frames(97);
  EXPECT_EQ(Difference(sent, SpecToProto(SpecFromProto(sent))), "");
  v1::Retake& retake = *source.mutable_retake();
  for (const int nanos : {0, 1, 333'333'333, 999'999'999}) {
    retake.mutable_begin()->set_nanos(nanos);
    retake.mutable_end()->set_seconds(nanos % 1000);
    retake.mutable_end()->set_nanos(nanos);
    retake.set_keep_pictures(nanos % 2 == 0);
    retake.set_keep_sound(nanos % 2 == 1);
    EXPECT_EQ(Difference(sent, SpecToProto(SpecFromProto(sent))), "");
  }
}

TEST(SpecConvert, KeepsUnsetFieldsUnset) {
  const v1::VideoSpec empty;
  EXPECT_EQ(Difference(empty, SpecToProto(SpecFromProto(empty))), "");
  v1::VideoSpec zeros;
  zeros.set_guidance_scale(0);
  zeros.set_seed(0);
  zeros.mutable_encoding()->set_crf(0);
  EXPECT_EQ(Difference(zeros, SpecToProto(SpecFromProto(zeros))), "");
}

TEST(SpecConvert, TurnsUnknownEnumValuesIntoUnspecified) {
  v1::VideoSpec spec;
  spec.mutable_encoding()->set_codec(static_cast<v1::VideoCodec>(99));
  spec.mutable_encoding()->set_speed(static_cast<v1::EncodingSpeed>(99));
  EXPECT_EQ(SpecFromProto(spec).encoding.codec, model::VideoCodec::kUnspecified);
  EXPECT_EQ(SpecFromProto(spec).encoding.speed, model::EncodingSpeed::kUnspecified);
}

TEST(SpecConvert, CarriesEveryEncodingSpeed) {
  for (int value = v1::EncodingSpeed_MIN; value <= v1::EncodingSpeed_MAX; ++value) {
    v1::VideoSpec spec;
    spec.mutable_encoding()->set_crf(20);
    spec.mutable_encoding()->set_speed(static_cast<v1::EncodingSpeed>(value));
    EXPECT_EQ(Difference(spec, SpecToProto(SpecFromProto(spec))), "");
  }
}

TEST(SpecConvert, DescribesBytesItselfWhateverTheCallerSays) {
  v1::VideoSpec spec;
  v1::Condition& condition = *spec.add_conditions();
  condition.set_image("\x89PNG\r\n\x1a\nrest");
  condition.set_sha256("forged");
  condition.set_size_bytes(1);
  condition.set_content_type("text/html");
  const model::Condition seen = SpecFromProto(spec).conditions.at(0);
  EXPECT_EQ(seen.content_type, "image/png");
  EXPECT_EQ(seen.size_bytes, 12);
  EXPECT_EQ(seen.sha256, Sha256Hex("\x89PNG\r\n\x1a\nrest"));
}

TEST(SpecConvert, KnowsTheTypesOfPicturesAndClips) {
  const auto type_of = [](std::string bytes) {
    v1::VideoSpec spec;
    spec.add_conditions()->set_image(std::move(bytes));
    return SpecFromProto(spec).conditions.at(0).content_type;
  };
  EXPECT_EQ(type_of("\xff\xd8\xff\xe0"), "image/jpeg");
  EXPECT_EQ(type_of("RIFF....WEBPVP8 "), "image/webp");
  EXPECT_EQ(type_of("....ftypisom"), "video/mp4");
  EXPECT_EQ(type_of("RIFF"), "");
  EXPECT_EQ(type_of("<svg>"), "");
}

TEST(SpecConvert, KnowsTheTypesOfSounds) {
  const auto type_of = [](std::string bytes) {
    v1::VideoSpec spec;
    spec.add_conditions()->set_audio(std::move(bytes));
    return SpecFromProto(spec).conditions.at(0).content_type;
  };
  EXPECT_EQ(type_of("RIFF....WAVEfmt "), "audio/wav");
  EXPECT_EQ(type_of("fLaC"), "audio/flac");
  EXPECT_EQ(type_of("ID3"), "audio/mpeg");
  EXPECT_EQ(type_of("\xff\xfb\x90"), "audio/mpeg");
  EXPECT_EQ(type_of("\xff\xf1\x50"), "") << "AAC without MP4";
  EXPECT_EQ(type_of("\xff\xd8\xff\xe0"), "") << "a JPEG";
  EXPECT_EQ(type_of("....ftypM4A "), "audio/mp4");
  EXPECT_EQ(type_of("OggS"), "");
}

TEST(HexDigest, MatchesAKnownDigest) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace reel
