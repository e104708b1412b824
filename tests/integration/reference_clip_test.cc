// SPDX-License-Identifier: Apache-2.0
// Videos with the reference clip that their adapter wants: from the configuration over the worker
// to the files, which are those that reel-render makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "tests/fakes/tiny_ltx2.h"
#include "tests/integration/door_client.h"
#include "tests/integration/model_calls.h"

namespace reel::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ReferenceClip : public ::testing::Test {
 protected:
  ReferenceClip() {
    std::filesystem::create_directory(folder_.File("loras"));
    Write("pose", {{"reference_downscale_factor", "1"}});
    Write("depth", {{"reference_downscale_factor", "2"}, {"reference_temporal_scale_factor", "2"}});
    Write("grain", nullptr);
  }
  // For one layer of the tiny transformer.
  void Write(const std::string& name, const nlohmann::json& metadata) const {
    const std::string layer = "diffusion_model.transformer_blocks.0.attn1.to_q";
    const std::vector<float> some(2 * 48, 0.1F);
    folder_.Write(absl::StrCat("loras/", name, ".safetensors"),
                  model::SafetensorsOfTypes(
                      {{layer + ".lora_A.weight", "F32", {2, 48}, model::BytesOfFloats(some)},
                       {layer + ".lora_B.weight", "F32", {48, 2}, model::BytesOfFloats(some)}},
                      metadata));
  }
  ServerSetup Setup() const {
    std::string config = absl::StrCat("adapter_root: '", folder_.File("loras"), "' ");
    for (const char* name : {"pose", "depth", "grain"}) {
      absl::StrAppend(&config, "adapters { name: '", name, "' file: '", name, ".safetensors' } ");
    }
    absl::StrAppend(&config, "models { name: 'tiny' path: '", model_.path(),
                    "' dtype: 'fp32' adapter_ranks: 32 }");
    return {config, {}, "", true};
  }
  ServerSetup WithFacade() const {
    ServerSetup setup = Setup();
    setup.flags.emplace_back("--http=127.0.0.1:0");
    return setup;
  }
  // Spec() by the facade's fields, which cannot say max_text_tokens.
  static v1::VideoSpec FacadeSpec() {
    v1::VideoSpec spec = Spec();
    spec.clear_max_text_tokens();
    return spec;
  }
  static httplib::MultipartFormDataItems FacadeForm() {
    return {{"prompt", "a red fox", "", ""},      {"size", "128x64", "", ""},
            {"num_frames", "17", "", ""},         {"fps", "25", "", ""},
            {"num_inference_steps", "2", "", ""}, {"seed", "7", "", ""},
            {"loras", "[\"pose\"]", "", ""}};
  }
  static v1::VideoSpec Spec(const std::string& adapter = "") {
    v1::VideoSpec spec;
    spec.set_prompt("a red fox");
    spec.set_width(128);
    spec.set_height(64);
    spec.set_num_frames(17);
    spec.set_frame_rate(25);
    spec.set_num_inference_steps(2);
    spec.set_max_text_tokens(64);
    spec.set_seed(7);
    if (!adapter.empty()) spec.add_adapters()->set_name(adapter);
    return spec;
  }
  static v1::VideoSpec With(v1::VideoSpec spec, const std::string& clip) {
    v1::Condition& condition = *spec.add_conditions();
    condition.set_use(v1::CONDITION_USE_REFERENCE);
    condition.set_video(clip);
    return spec;
  }
  std::string Rendered(const std::string& adapter) const {
    const ProgramResult done =
        RunProgram(BinaryPath("reel-render"),
                   {"--model",
                    model_.path(),
                    "--dtype",
                    "fp32",
                    "--device",
                    "cpu",
                    "--prompt",
                    "a red fox",
                    "--width",
                    "128",
                    "--height",
                    "64",
                    "--num-frames",
                    "17",
                    "--frame-rate",
                    "25",
                    "--steps",
                    "2",
                    "--max-text-tokens",
                    "64",
                    "--seed",
                    "7",
                    "--adapter-ranks",
                    "32",
                    "--adapter",
                    absl::StrCat(folder_.File("loras"), "/", adapter, ".safetensors"),
                    "--reference",
                    folder_.File("clip.mp4"),
                    "--output",
                    folder_.File("alone.mp4")});
    EXPECT_EQ(done.status, 0) << done.errors;
    return folder_.Read("alone.mp4");
  }

  const model::ltx2::TinyFolder model_{"2.3"};
  const testing::TempFolder folder_;
};

TEST_F(ReferenceClip, MakesTheVideoThatReelRenderMakes) {
  ReelServer server(Setup());
  Calls calls(server.Connect());
  const StreamResult plain = calls.Generate(Spec());
  ASSERT_TRUE(plain.status.ok()) << plain.status.error_message();
  folder_.Write("clip.mp4", plain.file);
  std::vector<std::string> files = {plain.file};
  for (const char* adapter : {"pose", "depth"}) {
    const StreamResult made = calls.Generate(With(Spec(adapter), plain.file));
    ASSERT_TRUE(made.status.ok()) << made.status.error_message();
    EXPECT_EQ(made.finished.spec().conditions(0).use(), v1::CONDITION_USE_REFERENCE);
    EXPECT_TRUE(made.file == Rendered(adapter)) << adapter;
    EXPECT_THAT(files, ::testing::Not(::testing::Contains(made.file)));
    files.push_back(made.file);
  }
  const ProgramResult by_program =
      RunProgram(BinaryPath("reel"), {"--server",    server.address(),
                                      "generate",    "a red fox",
                                      "--width",     "128",
                                      "--height",    "64",
                                      "--frames",    "17",
                                      "--fps",       "25",
                                      "--steps",     "2",
                                      "--seed",      "7",
                                      "--adapter",   "pose",
                                      "--reference", folder_.File("clip.mp4"),
                                      "-o",          folder_.File("by-program.mp4")});
  EXPECT_EQ(by_program.status, 0) << by_program.errors;
}

TEST_F(ReferenceClip, HasAStrengthOfItsAttention) {
  ReelServer server(Setup());
  Calls calls(server.Connect());
  const std::string clip = calls.Generate(Spec()).file;
  folder_.Write("clip.mp4", clip);
  const auto with = [&](double strength) {
    v1::VideoSpec spec = With(Spec("pose"), clip);
    spec.mutable_conditions(0)->set_attention_strength(strength);
    return spec;
  };
  const StreamResult plain = calls.Generate(With(Spec("pose"), clip)),
                     all = calls.Generate(with(1)), quarter = calls.Generate(with(0.25)),
                     none = calls.Generate(with(0));
  ASSERT_TRUE(quarter.is_finished) << quarter.status.error_message();
  EXPECT_EQ(plain.finished.spec().conditions(0).attention_strength(), 1);
  EXPECT_EQ(quarter.finished.spec().conditions(0).attention_strength(), 0.25);
  EXPECT_TRUE(all.file == plain.file);
  EXPECT_FALSE(quarter.file == plain.file);
  EXPECT_FALSE(quarter.file == none.file);
  const ProgramResult by_program = RunProgram(BinaryPath("reel"), {"--server",
                                                                   server.address(),
                                                                   "generate",
                                                                   "a red fox",
                                                                   "--width",
                                                                   "128",
                                                                   "--height",
                                                                   "64",
                                                                   "--frames",
                                                                   "17",
                                                                   "--fps",
                                                                   "25",
                                                                   "--steps",
                                                                   "2",
                                                                   "--seed",
                                                                   "7",
                                                                   "--adapter",
                                                                   "pose",
                                                                   "--reference",
                                                                   folder_.File("clip.mp4"),
                                                                   "--reference-attention",
                                                                   "2",
                                                                   "-o",
                                                                   folder_.File("by-program.mp4")});
  EXPECT_EQ(by_program.status, 3);
  EXPECT_THAT(by_program.errors, HasSubstr("nearest: 1"));
  v1::VideoSpec frames = with(0.5);
  frames.clear_adapters();
  frames.mutable_conditions(0)->set_use(v1::CONDITION_USE_FRAMES);
  const grpc::Status refused = calls.Generate(frames).status;
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(ViolatedFields(refused), ElementsAre("spec.conditions[0].attention_strength"));
}

TEST_F(ReferenceClip, ComesThroughTheFacadeAsAFileOfItsForm) {
  ReelServer server(WithFacade());
  Calls calls(server.Connect());
  v1::VideoSpec spec = FacadeSpec();
  const std::string clip = calls.Generate(spec).file;
  spec.add_adapters()->set_name("pose");
  const StreamResult made = calls.Generate(With(spec, clip));
  ASSERT_TRUE(made.is_finished) << made.status.error_message();
  httplib::Client client = ClientOf(server.http_address());
  httplib::MultipartFormDataItems form = FacadeForm();
  const auto without = client.Post("/v1/videos/sync", form);
  ASSERT_TRUE(without);
  EXPECT_THAT(without->body, HasSubstr("ADAPTER_WANTS_REFERENCE"));
  form.push_back({"reference_video", clip, "clip.mp4", "video/mp4"});
  const auto reply = client.Post("/v1/videos/sync", form);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200) << reply->body.substr(0, 500);
  EXPECT_TRUE(reply->body == made.file);
}

TEST_F(ReferenceClip, IsNamedByTheFacadeWhereItAloneIsWrong) {
  ReelServer server(WithFacade());
  Calls calls(server.Connect());
  v1::VideoSpec spec = FacadeSpec();
  const std::string clip = calls.Generate(spec).file;
  httplib::Client client = ClientOf(server.http_address());
  const auto refusal = [&](const httplib::MultipartFormData& file) {
    httplib::MultipartFormDataItems form = FacadeForm();
    form.push_back(file);
    const auto reply = client.Post("/v1/videos/sync", form);
    EXPECT_TRUE(reply);
    EXPECT_EQ(reply->status / 100, 4) << reply->body.substr(0, 500);
    EXPECT_THAT(reply->body, HasSubstr("reference_video"));
    EXPECT_THAT(reply->body, Not(HasSubstr("input_reference")));
    EXPECT_THAT(reply->body, Not(HasSubstr("conditions[")));
    return reply->body;
  };
  const auto param = [](const std::string& body) {
    return nlohmann::json::parse(body)["error"]["param"].dump();
  };
  // The worker finds out.
  refusal({"reference_video", clip.substr(0, 64) + std::string(4'000, 'x'), "clip.mp4", ""});
  EXPECT_EQ(param(refusal({"reference_video", "no clip at all", "clip.mp4", "video/mp4"})),
            "\"reference_video\"");
  EXPECT_EQ(
      param(refusal({"reference_video", clip + std::string(3'700'000, '\0'), "clip.mp4", ""})),
      "\"reference_video\"");
}

TEST_F(ReferenceClip, IsToldOfAdaptersAndRefusedByFieldWhereItCannotBeHad) {
  ReelServer server(Setup());
  const v1::Model tiny = ModelCalls(server).Get("tiny");
  ASSERT_EQ(tiny.adapters_size(), 3);
  for (const v1::AdapterInfo& adapter : tiny.adapters()) {
    EXPECT_EQ(adapter.wants_reference(), adapter.name() != "grain");
  }
  Calls calls(server.Connect());
  const auto refusal = [&](const v1::VideoSpec& spec, const std::string& field) {
    const grpc::Status status = calls.Generate(spec).status;
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_THAT(ViolatedFields(status), ElementsAre(field));
    return status.error_message();
  };
  EXPECT_THAT(refusal(Spec("pose"), "spec.adapters[0].name"), HasSubstr("wants a reference clip"));
  EXPECT_THAT(calls.Generate(Spec("pose")).status.error_details(),
              HasSubstr("ADAPTER_WANTS_REFERENCE"));
  EXPECT_THAT(refusal(With(Spec("grain"), "clip"), "spec.conditions[0].use"),
              HasSubstr("name one that does: pose, depth"));
  EXPECT_THAT(refusal(With(Spec(), "clip"), "spec.conditions[0].use"), HasSubstr("no adapter"));
  v1::VideoSpec narrow = With(Spec("depth"), "clip");
  narrow.set_width(96);
  EXPECT_THAT(refusal(narrow, "spec.width"), HasSubstr("96 is not a multiple of 64"));
}

}  // namespace
}  // namespace reel::tests
