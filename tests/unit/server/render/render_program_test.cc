// SPDX-License-Identifier: Apache-2.0
// The program reel-render, from outside.
#include "tests/unit/server/render/render_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>
#include <string>
#include <vector>

#include "model/states/video_state.h"
#include "model/testcard/picture_code.h"
#include "tests/fakes/decoded_video.h"

namespace reel::render {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST_F(RenderProgram, WritesAVideoAndPrintsItsPath) {
  const auto done = Run({"--num_frames", "17"}, "a.mp4");
  ASSERT_EQ(done.status, 0) << done.errors;
  EXPECT_EQ(done.out, folder_.File("a.mp4") + "\n");
  EXPECT_EQ(done.errors, "");
  EXPECT_FALSE(folder_.Has("a.mp4.part"));
  const auto video = reel::testing::Decode(folder_.Read("a.mp4"));
  ASSERT_TRUE(video.ok()) << video.status();
  ASSERT_THAT(video->luma, SizeIs(17));
  EXPECT_EQ(model::DecodeCode(video->luma[16], 64, 64, 64),
            (model::PictureCode{model::PictureHash("a fox", 7, 64, 64), 16}));
}

TEST_F(RenderProgram, TheSameCallGivesTheSameFile) {
  ASSERT_EQ(Run({}, "a.mp4").status, 0);
  ASSERT_EQ(Run({}, "b.mp4").status, 0);
  EXPECT_EQ(folder_.Read("a.mp4"), folder_.Read("b.mp4"));
}

TEST_F(RenderProgram, WritesExactFrames) {
  const auto done = Run({"--num-frames", "9", "--timings"}, "a.safetensors");
  ASSERT_EQ(done.status, 0) << done.errors;
  const std::string bytes = folder_.Read("a.safetensors");
  ASSERT_GT(bytes.size(), 8u);
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof(header));
  EXPECT_THAT(bytes.substr(8, header), HasSubstr(R"("frames":{"dtype":"F32","shape":[9,64,64,3])"));
  EXPECT_EQ(bytes.size(), 8 + header + size_t{9} * 64 * 64 * 3 * 4);
  EXPECT_THAT(done.errors, HasSubstr("denoise"));
}

TEST_F(RenderProgram, RefusesWithEveryViolation) {
  for (const char* output : {"a.mp4", "a.safetensors"}) {
    const auto refused = Run({"--frame-rate", "1000", "--num-frames", "100"}, output);
    EXPECT_EQ(refused.status, 3);
    EXPECT_THAT(refused.errors, HasSubstr("frame_rate: 1000 is not between 1 and 60"));
    EXPECT_THAT(refused.errors, HasSubstr("nearest: 97"));
    EXPECT_FALSE(folder_.Has(output));
    EXPECT_FALSE(folder_.Has(std::string(output) + ".part"));
  }
  const auto unknown = Run({"--kernels", "fastest"}, "a.mp4");
  EXPECT_EQ(unknown.status, 3);
  EXPECT_THAT(unknown.errors, HasSubstr("known: auto"));
}

TEST_F(RenderProgram, FailsForAModelThatCannotBeLoaded) {
  EXPECT_EQ(Run({"--model", folder_.path()}, "a.mp4").status, 7);
  EXPECT_EQ(Run({"--model", folder_.path()}, "a.safetensors").status, 7);
  EXPECT_EQ(Run({}, "no/such/folder.mp4").status, 7);
}

TEST_F(RenderProgram, ADeviceThatIsNotThereIsNamed) {
  const auto absent = Run({"--device", "cuda:4096"}, "a.mp4");
  EXPECT_EQ(absent.status, 7);
  EXPECT_THAT(absent.errors, HasSubstr("--device: "));
  const auto unknown = Run({"--device", "gpu"}, "a.mp4");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("a device is cpu, cuda:N"));
}

TEST_F(RenderProgram, UsageErrorsHaveAnExitCodeOfTheirOwn) {
  EXPECT_EQ(RunWith({"--output", "a.mp4"}).status, 2);
  EXPECT_EQ(RunWith({"--help"}).status, 0);
}

TEST_F(RenderProgram, SaysItsNameAndVersion) {
  const auto said = RunWith({"--version"});
  EXPECT_EQ(said.status, 0);
  EXPECT_THAT(said.out, ::testing::MatchesRegex("reel-render [0-9]+[.][0-9]+[.][0-9]+\n"));
}

TEST_F(RenderProgram, ChecksAModelAndRendersNothing) {
  const auto card = RunWith({"--check", "--model", "testcard"});
  EXPECT_EQ(card.status, 0) << card.errors;
  EXPECT_EQ(card.out, "testcard can be loaded: test card\n");
  const auto none = RunWith({"--check", "--json", "--model", folder_.path()});
  EXPECT_EQ(none.status, 7);
  EXPECT_THAT(none.out, HasSubstr("\"ok\":false"));
  EXPECT_EQ(none.errors, "");
  EXPECT_EQ(Run({"--json"}, "a.mp4").status, 2);
}

TEST_F(RenderProgram, AnInterruptEndsItAndLeavesNoFile) {
  for (const char* output : {"a.mp4", "a.safetensors"}) {
    tests::Program render(
        tests::BinaryPath("reel-render"),
        {"--model", "testcard", "--prompt", "a fox", "--steps", "100", "--num-frames", "257",
         "--width", "64", "--height", "64", "--output", folder_.File(output)});
    // The file is there once the program has taken the signals over.
    EXPECT_TRUE(tests::Eventually([&] { return folder_.Has(std::string(output) + ".part"); }));
    render.Signal(SIGINT);
    EXPECT_EQ(render.WaitForExit().value_or(-1), 130) << output;
    EXPECT_FALSE(folder_.Has(output));
    EXPECT_FALSE(folder_.Has(std::string(output) + ".part"));
  }
}

class RenderDraft : public RenderProgram {
 protected:
  tests::ProgramResult Card(std::vector<std::string> arguments, const std::string& output) const {
    arguments.insert(arguments.end(), {"--model", "testcard", "--output", folder_.File(output)});
    return RunWith(std::move(arguments));
  }
  const std::vector<std::string> film_ = {"--prompt", "a fox",    "--seed",
                                          "7",        "--preset", "two-pass"};
  std::vector<std::string> Draft(const std::string& state) const {
    std::vector<std::string> arguments = film_;
    arguments.insert(arguments.end(),
                     {"--stop-after-pass", "1", "--keep-state", folder_.File(state)});
    return arguments;
  }
};

TEST_F(RenderDraft, AndItsPromotionGiveTheFileOfTheWholeVideo) {
  for (const char* kind : {".mp4", ".safetensors"}) {
    const std::string draft = std::string("draft") + kind,
                      promoted = std::string("promoted") + kind,
                      whole = std::string("whole") + kind;
    auto done = Card(Draft("state"), draft);
    ASSERT_EQ(done.status, 0) << done.errors;
    done = Card({"--promote", folder_.File("state")}, promoted);
    ASSERT_EQ(done.status, 0) << done.errors;
    EXPECT_EQ(done.out, folder_.File(promoted) + "\n");
    done = Card(film_, whole);
    ASSERT_EQ(done.status, 0) << done.errors;
    EXPECT_EQ(folder_.Read(promoted), folder_.Read(whole));
    EXPECT_FALSE(folder_.Has("state.part"));
  }
  const auto draft = reel::testing::Decode(folder_.Read("draft.mp4"));
  ASSERT_TRUE(draft.ok()) << draft.status();
  EXPECT_EQ(model::DecodeCode(draft->luma[0], 128, 128, 96),
            (model::PictureCode{model::PictureHash("a fox", 7, 128, 96), 0}));
}

TEST_F(RenderDraft, LeavesTheSameStateBothWays) {
  ASSERT_EQ(Card(Draft("by_engine"), "a.mp4").status, 0);
  ASSERT_EQ(Card(Draft("exact"), "a.safetensors").status, 0);
  EXPECT_EQ(folder_.Read("by_engine"), folder_.Read("exact"));
}

TEST_F(RenderDraft, RefusesWhatIsNoStateOfADraft) {
  std::vector<std::string> whole = film_;
  whole.insert(whole.end(), {"--keep-state", folder_.File("whole")});
  ASSERT_EQ(Card(whole, "whole.mp4").status, 0);
  ASSERT_EQ(Card(Draft("state"), "draft.mp4").status, 0);
  folder_.Write("cut", folder_.Read("state").substr(0, 100));
  const std::pair<const char*, const char*> wrong[] = {{"cut", "the state is damaged"},
                                                       {"absent", "absent"},
                                                       {"draft.mp4", "the state is damaged"},
                                                       {"whole", "no draft"}};
  for (const auto& [file, why] : wrong) {
    for (const char* output : {"out.mp4", "out.safetensors"}) {
      const auto refused = Card({"--promote", folder_.File(file)}, output);
      EXPECT_EQ(refused.status, 3) << file << refused.errors;
      EXPECT_THAT(refused.errors, HasSubstr(why));
      EXPECT_FALSE(folder_.Has(output));
    }
  }
}

TEST_F(RenderDraft, AWholeVideosStateIsHeldByExtensionsAndRetakesBothWays) {
  const std::vector<std::string> film = {
      "--prompt", "a fox", "--seed",       "7",
      "--preset", "quick", "--keep-state", folder_.File("state")};
  ASSERT_EQ(Card(film, "film.mp4").status, 0);
  const std::vector<std::string> ways[] = {
      {"--extend", folder_.File("state"), "--new-frames", "8", "--prompt", "an owl"},
      {"--retake", folder_.File("state"), "--from", "0.5", "--to", "0.6", "--prompt", "an owl"}};
  for (const std::vector<std::string>& way : ways) {
    std::vector<std::string> keeps = way;
    keeps.insert(keeps.end(), {"--keep-state", folder_.File("by_engine")});
    auto done = Card(keeps, "next.mp4");
    ASSERT_EQ(done.status, 0) << done.errors;
    keeps.back() = folder_.File("exact");
    done = Card(keeps, "next.safetensors");
    ASSERT_EQ(done.status, 0) << done.errors;
    const auto by_engine = model::ReadState(folder_.Read("by_engine"));
    const auto exact = model::ReadState(folder_.Read("exact"));
    ASSERT_TRUE(by_engine.ok() && exact.ok());
    EXPECT_TRUE(by_engine->made == exact->made && by_engine->spec == exact->spec);
    EXPECT_TRUE(by_engine->file == folder_.Read("next.mp4"));
    EXPECT_EQ(exact->file, "") << "there is no MP4";
  }
  const auto retake = reel::testing::Decode(folder_.Read("next.mp4"));
  ASSERT_TRUE(retake.ok()) << retake.status();
  const auto code = [&](size_t frame) {
    return model::DecodeCode(retake->luma[frame], 256, 256, 160);
  };
  const uint32_t fox = model::PictureHash("a fox", 7, 256, 160),
                 owl = model::PictureHash("an owl", 0, 256, 160);
  EXPECT_EQ(code(8), (model::PictureCode{fox, 8}));
  EXPECT_EQ(code(9), (model::PictureCode{owl, 9}));
  EXPECT_EQ(code(16), (model::PictureCode{owl, 16}));
  EXPECT_EQ(code(17), (model::PictureCode{fox, 17}));
  const auto refused =
      Card({"--extend", folder_.File("state"), "--new-frames", "8", "--overlap", "33"}, "no.mp4");
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.errors, HasSubstr("source.extend.overlap_frames"));
}

TEST_F(RenderDraft, JoinsAnExtensionToItsVideoAndToThatAgain) {
  std::string last = "film";
  ASSERT_EQ(Card({"--prompt", "a fox", "--seed", "7", "--preset", "quick", "--keep-state",
                  folder_.File("film")},
                 "film.mp4")
                .status,
            0);
  for (const char* next : {"once", "twice"}) {
    const auto done = Card({"--extend", folder_.File(last), "--new-frames", "16", "--overlap", "9",
                            "--join", "--prompt", "an owl", "--keep-state", folder_.File(next)},
                           std::string(next) + ".mp4");
    ASSERT_EQ(done.status, 0) << done.errors;
    last = next;
  }
  const auto joined = reel::testing::Decode(folder_.Read("twice.mp4"));
  ASSERT_TRUE(joined.ok()) << joined.status();
  ASSERT_THAT(joined->luma, SizeIs(25 + 16 + 16));
  const auto code = [&](size_t frame) {
    return model::DecodeCode(joined->luma[frame], 256, 256, 160);
  };
  const uint32_t fox = model::PictureHash("a fox", 7, 256, 160),
                 owl = model::PictureHash("an owl", 0, 256, 160);
  EXPECT_EQ(code(0), (model::PictureCode{fox, 0}));
  EXPECT_EQ(code(24), (model::PictureCode{fox, 24}));
  EXPECT_EQ(code(25), (model::PictureCode{owl, 9})) << "as its own clip counts";
  EXPECT_EQ(code(56), (model::PictureCode{owl, 24}));
  const auto refused = Card({"--extend", folder_.File("film"), "--new-frames", "240", "--overlap",
                             "9", "--join", "--prompt", "an owl"},
                            "no.mp4");
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.errors, HasSubstr("source.extend.num_frames"));
}

TEST_F(RenderDraft, RefusesADraftOfOnePassByName) {
  const auto refused =
      Card({"--prompt", "a fox", "--preset", "quick", "--stop-after-pass", "1"}, "a.mp4");
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.errors, HasSubstr("stop_after_pass: preset 'quick' makes one pass"));
  EXPECT_THAT(refused.errors, HasSubstr("presets of several: two-pass"));
}

}  // namespace
}  // namespace reel::render
