// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/facade_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

constexpr char kJsonBody[] = "application/json";
constexpr char kFormBody[] = "application/x-www-form-urlencoded";

std::vector<ServedModel> OneModel() {
  ServedModel served;
  served.is_default = true;
  served.card.name = "lab";
  served.card.defaults.frame_rate = 24;
  model::Preset fast;
  fast.name = "fast";
  fast.values.frame_rate = 10;
  served.card.presets = {fast};
  return {served};
}

absl::StatusOr<FacadeAsk> ReadAsk(const std::string& body, const char* type = kJsonBody) {
  return ReadFacadeAsk(type, body, {OneModel(), {{"sora-2", "lab"}}});
}

std::string SpecText(const absl::StatusOr<FacadeAsk>& ask) {
  return ask.ok() ? ask->request.ShortDebugString() : ask.status().ToString();
}

std::string ReasonText(const absl::StatusOr<FacadeAsk>& ask) {
  return ask.ok() ? "OK" : std::string(Describe(*ReasonOf(ask.status())).name);
}

TEST(FacadeFields, ThatAreGivenTwiceAreRefused) {
  for (const char* body :
       {R"({"prompt": "a", "prompt": "b"})",
        R"({"prompt": "a", "kernels": {"profile": "a", "profile": "b"}})",
        R"({"prompt": "a", "extra_body": "{\"seed\": 1, \"seed\": 2}"})",
        R"({"prompt": "a", "kernels": "{\"profile\": \"a\", \"profile\": \"b\"}"})"}) {
    const auto ask = ReadAsk(body);
    EXPECT_EQ(ReasonText(ask), "INVALID_REQUEST") << body;
  }
}

TEST(FacadeFields, SayTheSameAsJsonAndAsForms) {
  const auto asked = ReadAsk(R"({"prompt": "a red circle", "model": "lab", "size": "256x128",
      "num_frames": 49, "fps": 12.5, "seed": 7, "num_inference_steps": 4, "guidance_scale": 2,
      "negative_prompt": "blue", "preset": "fast", "kernels": "reference", "priority": "high",
      "timeout": 1.5, "preview": {"every_steps": 2}, "n": 1, "user": "me"})");
  ASSERT_TRUE(asked.ok()) << asked.status();
  const auto form = ReadAsk(
      "prompt=a+red+circle&model=lab&width=256&height=128&num_frames=49&fps=12.5&seed=7&"
      "num_inference_steps=4&guidance_scale=2&negative_prompt=blue&preset=fast&kernels=reference&"
      "priority=PRIORITY_HIGH&timeout=1.5&preview%5Bevery_steps%5D=2&n=1&flow_shift=",
      kFormBody);
  EXPECT_EQ(SpecText(form), SpecText(asked));
  const v1::VideoSpec& spec = asked->request.spec();
  EXPECT_EQ(spec.width(), 256);
  EXPECT_EQ(spec.height(), 128);
  EXPECT_EQ(spec.seed(), 7U);
  EXPECT_EQ(spec.kernels().profile(), "reference");
  EXPECT_EQ(asked->request.timeout().nanos(), 500'000'000);
  EXPECT_EQ(asked->request.count(), 1);
  EXPECT_EQ(form->request.count(), 1);
  EXPECT_EQ(asked->notice, "");
}

TEST(FacadeFields, LorasAreAdaptersByName) {
  const auto asked =
      ReadAsk(R"({"prompt": "x", "loras": [{"name": "grain", "scale": -0.5}, "turn"]})");
  ASSERT_TRUE(asked.ok()) << asked.status();
  ASSERT_EQ(asked->request.spec().adapters_size(), 2);
  EXPECT_EQ(asked->request.spec().adapters(0).name(), "grain");
  EXPECT_EQ(asked->request.spec().adapters(0).scale(), -0.5);
  EXPECT_EQ(asked->request.spec().adapters(1).name(), "turn");
  EXPECT_FALSE(asked->request.spec().adapters(1).has_scale());
  EXPECT_EQ(SpecText(ReadAsk("prompt=x&loras=%5B%7B%22name%22%3A%22grain%22%2C%22scale%22%3A-0.5"
                             "%7D%2C%22turn%22%5D",
                             kFormBody)),
            SpecText(asked));
  EXPECT_EQ(SpecText(ReadAsk(R"({"prompt": "x", "loras": []})")),
            SpecText(ReadAsk(R"({"prompt": "x"})")));
}

TEST(FacadeFields, SoundIsTrueOrFalse) {
  const auto sound = [](const absl::StatusOr<FacadeAsk>& ask) {
    EXPECT_TRUE(ask.ok()) << ask.status();
    if (!ask.ok() || !ask->request.spec().has_sound()) return std::string("unset");
    return std::string(ask->request.spec().sound() ? "true" : "false");
  };
  EXPECT_EQ(sound(ReadAsk(R"({"prompt": "x", "sound": false})")), "false");
  EXPECT_EQ(sound(ReadAsk(R"({"prompt": "x", "sound": "true"})")), "true");
  EXPECT_EQ(sound(ReadAsk("prompt=x&sound=false", kFormBody)), "false");
  EXPECT_EQ(sound(ReadAsk(R"({"prompt": "x"})")), "unset");
  const auto loud = ReadAsk(R"({"prompt": "x", "sound": "loud"})");
  EXPECT_EQ(ReasonText(loud), "INVALID_REQUEST");
  EXPECT_THAT(std::string(loud.status().message()), ::testing::HasSubstr("true or false"));
}

TEST(FacadeFields, OriginIsOneOfThreeWords) {
  const auto origin = [](const std::string& body) {
    const auto ask = ReadAsk(body);
    EXPECT_TRUE(ask.ok()) << ask.status();
    return ask.ok() ? ask->request.spec().encoding().origin() : v1::ORIGIN_UNSPECIFIED;
  };
  EXPECT_EQ(origin(R"({"prompt": "x", "origin": "spec"})"), v1::ORIGIN_SPEC);
  EXPECT_EQ(origin(R"({"prompt": "x", "origin": "ORIGIN_NONE"})"), v1::ORIGIN_NONE);
  EXPECT_EQ(origin(R"({"prompt": "x"})"), v1::ORIGIN_UNSPECIFIED);
  const auto other = ReadAsk(R"({"prompt": "x", "origin": "all"})");
  EXPECT_THAT(std::string(other.status().message()), ::testing::HasSubstr("none, mark or spec"));
}

TEST(FacadeFields, AnEmptyNegativePromptIsAValue) {
  const auto negative = [](const std::string& body, const char* type) {
    const auto ask = type == nullptr ? ReadAsk(body) : ReadAsk(body, type);
    EXPECT_TRUE(ask.ok()) << ask.status();
    if (!ask.ok() || !ask->request.spec().has_negative_prompt()) return std::string("unset");
    return "'" + ask->request.spec().negative_prompt() + "'";
  };
  EXPECT_EQ(negative(R"({"prompt": "x", "negative_prompt": ""})", nullptr), "''");
  EXPECT_EQ(negative("prompt=x&negative_prompt=", kFormBody), "''");
  EXPECT_EQ(negative(R"({"prompt": "x", "negative_prompt": null})", nullptr), "unset");
  EXPECT_EQ(negative(R"({"prompt": "x"})", nullptr), "unset");
}

TEST(FacadeFields, EmptyAndNullAreUnset) {
  const auto ask = ReadAsk(R"({"prompt": "x", "seed": "", "fps": null, "size": "",
      "input_reference": "", "kernels": null, "extra_body": null})");
  ASSERT_TRUE(ask.ok()) << ask.status();
  v1::CreateVideoRequest plain;
  plain.mutable_spec()->set_prompt("x");
  EXPECT_EQ(SpecText(ask), plain.ShortDebugString());
}

TEST(FacadeFields, SecondsAreTheNearestLegalCountOfFrames) {
  struct Case {
    const char* body;
    int frames;
  };
  for (const Case& c : {Case{R"({"prompt": "x", "seconds": "4"})", 97},
                        Case{R"({"prompt": "x", "seconds": 1})", 25},
                        Case{R"({"prompt": "x", "seconds": 2, "fps": 30})", 57},
                        Case{R"({"prompt": "x", "seconds": 2, "preset": "fast"})", 17},
                        Case{R"({"prompt": "x", "seconds": 0.01})", 1}}) {
    const auto ask = ReadAsk(c.body);
    ASSERT_TRUE(ask.ok()) << ask.status();
    EXPECT_EQ(ask->request.spec().num_frames(), c.frames) << c.body;
    EXPECT_THAT(ask->notice, ::testing::HasSubstr(absl::StrCat(c.frames, " frames")));
  }
  const auto both = ReadAsk(R"({"prompt": "x", "seconds": 4, "num_frames": 9})");
  EXPECT_EQ(both->request.spec().num_frames(), 9);
  EXPECT_EQ(both->notice, "");
}

TEST(FacadeFields, ModelsMayHaveOtherNames) {
  EXPECT_EQ(ReadAsk(R"({"prompt": "x", "model": "sora-2"})")->request.spec().model(), "lab");
  EXPECT_EQ(ReadAsk(R"({"prompt": "x", "model": "sora-3"})")->request.spec().model(), "sora-3");
}

TEST(FacadeFields, ExtrasLieBelowTheFieldsBesideThem) {
  const auto asked = ReadAsk(R"({"prompt": "x", "seed": 1, "extra_body": {"seed": 2, "fps": 10}})");
  EXPECT_EQ(asked->request.spec().seed(), 1U);
  EXPECT_EQ(asked->request.spec().frame_rate(), 10);
  const auto form =
      ReadAsk("prompt=x&seed=1&extra_params=%7B%22seed%22%3A2%2C%22fps%22%3A10%7D", kFormBody);
  EXPECT_EQ(SpecText(form), SpecText(asked));
  EXPECT_EQ(ReasonText(ReadAsk(R"({"prompt": "x", "extra_body": [1]})")), "INVALID_REQUEST");
  EXPECT_EQ(ReasonText(ReadAsk(R"({"prompt": "x", "extra_body": "{"})")), "UNDECODABLE_REQUEST");
}

TEST(FacadeFields, InputsAreBytesAndNothingElse) {
  const std::string png = "\x89PNG....";
  const std::string url = "data:image/jpeg;base64," + absl::Base64Escape(png);
  for (const std::string& sent :
       {absl::StrCat("\"", url, "\""), absl::StrCat("{\"image_url\": \"", url, "\"}")}) {
    const auto ask = ReadAsk(absl::StrCat(R"({"prompt": "x", "input_reference": )", sent, "}"));
    ASSERT_TRUE(ask.ok()) << ask.status();
    EXPECT_EQ(ask->request.spec().conditions(0).image(), png);
  }
  const auto file = ReadFacadeAsk(
      "multipart/form-data; boundary=b",
      "--b\r\nContent-Disposition: form-data; name=prompt\r\n\r\nx\r\n"
      "--b\r\nContent-Disposition: form-data; name=input_reference; filename=a\r\n\r\n"
      "....ftypisom\r\n--b--",
      {OneModel(), {}});
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->request.spec().conditions(0).video(), "....ftypisom");
  for (const char* sent : {"\"https://example.org/a.png\"", "\"/etc/passwd\"",
                           "{\"file_id\": \"file-1\"}", "{\"image_url\": \"http://x/\"}", "7"}) {
    EXPECT_EQ(
        ReasonText(ReadAsk(absl::StrCat(R"({"prompt": "x", "input_reference": )", sent, "}"))),
        "NO_REMOTE_INPUT")
        << sent;
  }
  EXPECT_EQ(ReasonText(ReadAsk(R"({"prompt": "x", "input_reference": "data:image/png,abc"})")),
            "INVALID_REQUEST");
}

TEST(FacadeFields, AReferenceVideoIsTheClipOfAnAdapter) {
  std::vector<ServedModel> models = OneModel();
  models[0].card.takes_references = true;
  const std::string mp4 = "....ftypisom", png = "\x89PNG....";
  const auto url = [](const std::string& bytes) {
    return "data:video/mp4;base64," + absl::Base64Escape(bytes);
  };
  const auto part = [](const std::string& name, const std::string& bytes) {
    return absl::StrCat("--b\r\nContent-Disposition: form-data; name=", name,
                        "; filename=a\r\n\r\n", bytes, "\r\n");
  };
  const auto ask = [&](const std::string& body, const char* type = kJsonBody) {
    return ReadFacadeAsk(type, body, {models, {}});
  };
  const auto asked = ask(absl::StrCat(R"({"prompt": "x", "reference_video": ")", url(mp4),
                                      R"(", "input_reference": ")", url(png), R"("})"));
  ASSERT_TRUE(asked.ok()) << asked.status();
  const v1::VideoSpec& spec = asked->request.spec();
  ASSERT_EQ(spec.conditions_size(), 2);
  EXPECT_EQ(spec.conditions(0).image(), png);
  EXPECT_EQ(spec.conditions(0).use(), v1::CONDITION_USE_UNSPECIFIED);
  EXPECT_EQ(spec.conditions(1).video(), mp4);
  EXPECT_EQ(spec.conditions(1).use(), v1::CONDITION_USE_REFERENCE);
  EXPECT_EQ(SpecText(ask(
                absl::StrCat("--b\r\nContent-Disposition: form-data; name=prompt\r\n\r\nx\r\n",
                             part("reference_video", mp4), part("input_reference", png), "--b--"),
                "multipart/form-data; boundary=b")),
            SpecText(asked));
  const auto as_object = ask(
      absl::StrCat(R"({"prompt": "x", "reference_video": {"video_url": ")", url(mp4), R"("}})"));
  ASSERT_TRUE(as_object.ok()) << as_object.status();
  EXPECT_EQ(as_object->request.spec().conditions(0).video(), mp4);
  // Refused by name.
  EXPECT_EQ(ReasonText(ask(R"({"prompt": "x", "reference_video": "https://x/a.mp4"})")),
            "NO_REMOTE_INPUT");
  const auto picture =
      ask(absl::StrCat(R"({"prompt": "x", "reference_video": ")", url(png), R"("})"));
  EXPECT_THAT(std::string(picture.status().message()),
              ::testing::HasSubstr("reference_video: must be a clip (MP4)"));
  EXPECT_EQ(ReasonText(ask(
                absl::StrCat(part("reference_video", mp4), part("reference_video", mp4), "--b--"),
                "multipart/form-data; boundary=b")),
            "INVALID_REQUEST");
  models[0].card.takes_references = false;
  const auto other =
      ask(absl::StrCat(R"({"prompt": "x", "reference_video": ")", url(mp4), R"("})"));
  EXPECT_THAT(std::string(other.status().message()),
              ::testing::HasSubstr("reference_video: this model takes no reference clips"));
}

TEST(FacadeFields, FilesTooLargeForARequestAreToldTheLimitAndWhereTheyGo) {
  std::vector<ServedModel> models = OneModel();
  models[0].card.takes_references = true;
  model::RequestLimits limits;
  limits.max_condition_bytes = 30;
  const auto refusal = [&](const std::vector<std::string>& names) {
    std::string form = "--b\r\nContent-Disposition: form-data; name=prompt\r\n\r\nx\r\n";
    for (const std::string& name : names) {
      absl::StrAppend(&form, "--b\r\nContent-Disposition: form-data; name=", name,
                      "; filename=a\r\n\r\n....ftypisom", std::string(8, 'x'), "\r\n");
    }
    const auto ask =
        ReadFacadeAsk("multipart/form-data; boundary=b", form + "--b--", {models, {}}, limits);
    EXPECT_EQ(ask.ok(), names.size() == 1 && limits.max_condition_bytes >= 20) << ask.status();
    return std::string(ask.status().message());
  };
  EXPECT_EQ(refusal({"reference_video"}), "");
  EXPECT_THAT(refusal({"reference_video", "input_reference"}),
              ::testing::HasSubstr("reference_video: has 20 bytes; a request has room for 30"));
  limits.max_condition_bytes = 19;
  for (const std::string name : {"reference_video", "input_reference"}) {
    EXPECT_THAT(refusal({name}),
                ::testing::HasSubstr(name + ": has 20 bytes; a request has room for 19 bytes of "
                                            "files: send it ahead by POST /reel/v1/files"));
  }
  limits.max_file_bytes = 0;
  EXPECT_THAT(refusal({"reference_video"}), ::testing::HasSubstr("files: send a smaller one"));
}

TEST(FacadeFields, FilesThatWereSentAheadAreNamed) {
  std::vector<ServedModel> models = OneModel();
  models[0].card.takes_references = true;
  const auto ask = ReadFacadeAsk(
      kFormBody, "prompt=x&input_reference=files%2Fab&reference_video=files%2Fcd", {models, {}});
  ASSERT_TRUE(ask.ok()) << ask.status();
  const v1::VideoSpec& spec = ask->request.spec();
  ASSERT_EQ(spec.conditions_size(), 2);
  EXPECT_EQ(spec.conditions(0).file(), "files/ab");
  EXPECT_EQ(spec.conditions(1).file(), "files/cd");
  EXPECT_EQ(spec.conditions(1).use(), v1::CONDITION_USE_REFERENCE);
}

TEST(FacadeFields, WhatCannotBeMeantIsRefusedByName) {
  struct Case {
    const char *fields, *named;
  };
  for (const Case& c :
       {Case{R"("promt": "y")", "promt: there is no such field; the nearest is prompt"},
        Case{R"("n": 17)", "n: must be a whole number, 1 to 16"}, Case{R"("n": 0)", "n: must be"},
        Case{R"("enable_teacache": true)", "teacache"}, Case{R"("size": "256")", "size: must be"},
        Case{R"("size": "0x64")", "size: must be"},
        Case{R"("size": "64x64", "width": 32)", "size: is not what width"},
        Case{R"("seed": -1)", "seed: must be a whole number"},
        Case{R"("num_frames": 1.5)", "num_frames: must be a whole number"},
        Case{R"("num_frames": 1e12)", "num_frames: must be a whole number"},
        Case{R"("fps": "fast")", "fps: must be a number"},
        Case{R"("fps": "nan")", "fps: must be a number"},
        Case{R"("model": 7)", "model: must be a text"},
        Case{R"("seconds": -1)", "seconds: must be above 0"},
        Case{R"("priority": "urgent")", "priority: must be low"},
        Case{R"("loras": "grain")", "loras: must be a list"},
        Case{R"("loras": "[], \"prompt\": \"y\"")", "loras: must be a list"},
        Case{R"("loras": [{"name": "a", "path": "/etc/passwd"}])", "loras:"},
        Case{R"("kernels": {"profil": "x"})", "kernels:"}}) {
    const auto ask = ReadAsk(absl::StrCat("{\"prompt\": \"x\", ", c.fields, "}"));
    EXPECT_EQ(ReasonText(ask), "INVALID_REQUEST") << c.fields;
    EXPECT_THAT(
        std::string(ask.status().message()) + ask.status().ToString(),
        ::testing::HasSubstr(std::string(c.named).substr(0, std::string(c.named).find(':'))))
        << c.fields;
  }
  EXPECT_EQ(ReasonText(ReadAsk("prompt=x&prompt=y", kFormBody)), "INVALID_REQUEST");
  EXPECT_EQ(ReasonText(ReadAsk("prompt=x&preview%5Ba%5D=1&preview=2", kFormBody)),
            "INVALID_REQUEST");
  EXPECT_EQ(ReasonText(ReadAsk("[]")), "UNDECODABLE_REQUEST");
}

TEST(FacadeFields, PathsHaveTheFacadesNames) {
  EXPECT_EQ(FacadeNameOf("spec.width"), "size");
  EXPECT_EQ(FacadeNameOf("spec.frame_rate"), "fps");
  EXPECT_EQ(FacadeNameOf("spec.kernels.profile"), "kernels");
  EXPECT_EQ(FacadeNameOf("spec.adapters[0].scale"), "loras");
  EXPECT_EQ(FacadeNameOf("spec.encoding.origin"), "origin");
  EXPECT_EQ(FacadeNameOf("timeout"), "timeout");
  EXPECT_EQ(FacadeNameOf("reference_video"), "reference_video");
}

}  // namespace
}  // namespace reel::front
