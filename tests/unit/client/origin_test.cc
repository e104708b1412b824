// SPDX-License-Identifier: Apache-2.0
#include "client/origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/fakes/mp4_head.h"

namespace reel::client {
namespace {

using mp4::Mp4BoxBytes;
using mp4::Mp4That;
using mp4::OriginBoxBytes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kWhole[] = R"({
  "format": "reel.origin.1", "build": "0.2.0", "device": "cpu",
  "kernels": {"rms_norm": "loops"},
  "model": {"family": "test card", "parameters": 0, "weights_sha256": "aa",
            "adapters": [{"name": "grain", "scale": 0.5, "sha256": "bb"}]},
  "spec": {"prompt": "a fox", "seed": 18446744073709551615, "frame_rate": 23.976, "width": 64,
           "encoding": {"codec": 1, "crf": 18, "origin": 3}, "stop_after_pass": 1,
           "kernels": {"profile": "auto", "variants": {"rms_norm": "loops"}},
           "conditions": [{"image": "", "sha256": "cc", "size_bytes": 5}]}})";

absl::StatusOr<std::string> Find(const std::string& bytes) {
  std::istringstream file(bytes);
  return FindOrigin(file);
}

std::string Says(const absl::Status& status) { return std::string(status.message()); }

TEST(FindOrigin, GivesTheTextOfItsBoxBehindTheHead) {
  const std::string head = Mp4BoxBytes("ftyp", "isom") + Mp4BoxBytes("moov", "tracks");
  EXPECT_EQ(*Find(head + OriginBoxBytes("{}")), "{}");
  EXPECT_EQ(*Find(head + Mp4BoxBytes("uuid", "of somebody else") + OriginBoxBytes("x")), "x");
  const std::string large = std::string(
      "\0\0\0\x01"
      "free"
      "\0\0\0\0\0\0\0\x14"
      "four",
      20);
  EXPECT_EQ(*Find(head + large + OriginBoxBytes("x")), "x");
}

TEST(FindOrigin, SaysWhenAFileHasNone) {
  const std::string head = Mp4BoxBytes("ftyp", "isom") + Mp4BoxBytes("moov", "tracks");
  EXPECT_EQ(Find(head).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Says(Find(head).status()), HasSubstr("--origin spec"));
  EXPECT_EQ(Find(head + Mp4BoxBytes("moof", "") + OriginBoxBytes("x")).status().code(),
            absl::StatusCode::kNotFound)
      << "only the head is read";
}

TEST(FindOrigin, TakesNoBytesForMoreThanTheyAre) {
  const std::string ftyp = Mp4BoxBytes("ftyp", "isom");
  for (const std::string& bytes : {std::string(), std::string("no file of films"),
                                   std::string("\x89PNG\r\n\x1a\n________"), ftyp.substr(0, 7)}) {
    EXPECT_THAT(Says(Find(bytes).status()), HasSubstr("no MP4")) << bytes;
  }
  for (const std::string& rest : {std::string("\0\0\0\0moov", 8), std::string("\0\0\0\x07moov", 8),
                                  std::string("\xff\xff\xff\xffmoov", 8),
                                  std::string("\0\0\0\x01moov\xff\xff\xff\xff\xff\xff\xff\xff", 16),
                                  std::string("\0\0\0\x01moov\0\0\0\0\0\0\0\x0f", 16)}) {
    EXPECT_FALSE(Find(ftyp + rest + OriginBoxBytes("x")).ok());
  }
  const std::string cut = ftyp + OriginBoxBytes("hello");
  EXPECT_THAT(Says(Find(cut.substr(0, cut.size() - 1)).status()), HasSubstr("ends in it"));
  EXPECT_THAT(Says(Find(ftyp + OriginBoxBytes(std::string(65'537, 'x'))).status()),
              HasSubstr("65537 bytes, above 65536"));
  std::string many = ftyp;
  for (int i = 0; i < 100; ++i) many += Mp4BoxBytes("free", "");
  EXPECT_EQ(Find(many + OriginBoxBytes("x")).status().code(), absl::StatusCode::kNotFound);
}

TEST(ParseOrigin, GivesWhatTheFileSays) {
  const auto origin = ParseOrigin(kWhole);
  ASSERT_TRUE(origin.ok()) << origin.status();
  EXPECT_EQ(origin->build, "0.2.0");
  EXPECT_EQ(origin->device, "cpu");
  EXPECT_EQ(origin->family, "test card");
  EXPECT_EQ(origin->weights, "aa");
  EXPECT_THAT(origin->adapters, ElementsAre("grain times 0.5 bb"));
  EXPECT_EQ(origin->kernels.at("rms_norm"), "loops");
  EXPECT_EQ(origin->spec.ShortDebugString(),
            "prompt: \"a fox\" width: 64 frame_rate: 23.976 seed: 18446744073709551615 "
            "conditions { image: \"\" size_bytes: 5 sha256: \"cc\" } "
            "kernels { profile: \"auto\" variants { key: \"rms_norm\" value: \"loops\" } } "
            "encoding { codec: VIDEO_CODEC_H264 crf: 18 origin: ORIGIN_SPEC } stop_after_pass: 1");
}

TEST(ParseOrigin, RefusesWhatIsNoneAndNamesTheRule) {
  const auto with = [](const std::string& member) {
    return absl::StrCat(R"({"format": "reel.origin.1", )", member, "}");
  };
  const std::pair<std::string, const char*> wrong[] = {
      {"", "no JSON object"},
      {"[]", "no JSON object"},
      {"{", "no JSON object"},
      {R"({"format": "reel.origin.2", "spec": {}})", "format reel.origin.1"},
      {with(R"("build": 1, "spec": {})"), "build"},
      {with(R"("spec": [])"), "spec is no object"},
      {with(R"("spec": {"a_field_of_tomorrow": 1})"), "unknown to this program"},
      {with(R"("spec": {"width": "wide"})"), "has another type"},
      {with(R"("model": 1, "spec": {})"), "model is no object"},
      {with(R"("model": {"family": 1}, "spec": {})"), "model is no text"},
      {with(R"("model": {"adapters": [1]}, "spec": {})"), "model.adapters"},
      {with(R"("model": {"adapters": [{"scale": "1"}]}, "spec": {})"), "model.adapters"},
      {with(R"("kernels": {"a": 1}, "spec": {})"), "kernels"},
      {std::string(65'537, ' '), "above 65536"},
      {std::string(9, '[') + std::string(9, ']'), "deeper than 8"},
      {std::string(60'000, '['), "deeper than 8"},
  };
  for (const auto& [text, rule] : wrong) {
    EXPECT_THAT(Says(ParseOrigin(text).status()), HasSubstr(rule)) << text.substr(0, 80);
  }
}

TEST(ParseOrigin, ShowsNoControlCharactersOfAFileAndNoPromptInAnError) {
  const auto origin = ParseOrigin(
      R"({"format": "reel.origin.1", "build": "\u001b[2J", "kernels": {"a\n": "b\r"}, "spec": {}})");
  ASSERT_TRUE(origin.ok()) << origin.status();
  EXPECT_EQ(origin->build, "?[2J");
  EXPECT_EQ(origin->kernels.at("a?"), "b?");
  const auto refused = ParseOrigin(
      R"({"format": "reel.origin.1", "spec": {"prompt": "a secret", "width": "wide"}})");
  EXPECT_THAT(Says(refused.status()), Not(HasSubstr("secret")));
}

TEST(ReadOrigin, NamesTheFile) {
  const std::string folder = ::testing::TempDir();
  const auto of = [](const std::string& path) { return Says(ReadOrigin(path).status()); };
  const std::string whole = folder + "origin_whole.mp4", broken = folder + "origin_broken.mp4";
  std::ofstream(whole, std::ios::binary) << Mp4That(kWhole);
  std::ofstream(broken, std::ios::binary) << Mp4That("{");
  EXPECT_TRUE(ReadOrigin(whole).ok());
  EXPECT_THAT(of(broken), ::testing::StartsWith(broken + ": "));
  EXPECT_THAT(of(folder + "origin_none.mp4"), HasSubstr("Cannot read "));
}

TEST(Differences, NameWhatMadeOneFileOtherwise) {
  const Origin before = *ParseOrigin(kWhole);
  EXPECT_THAT(Differences(before, before), IsEmpty());
  Origin now = before;
  now.spec.set_seed(8);
  EXPECT_THAT(Differences(before, now), IsEmpty()) << "the request is another matter";
  now.build = "0.3.0";
  now.weights = "";
  now.adapters.clear();
  now.kernels = {{"rms_norm", "sm90"}, {"rope", "cpu"}};
  EXPECT_THAT(Differences(before, now),
              ElementsAre("build: 0.2.0, now 0.3.0", "weights: aa, now unknown",
                          "adapters in the weights: grain times 0.5 bb, now unknown",
                          "kernel rms_norm: loops, now sm90", "kernel rope: unknown, now cpu"));
}

}  // namespace
}  // namespace reel::client
