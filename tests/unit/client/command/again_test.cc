// SPDX-License-Identifier: Apache-2.0
// `reel again` against a fake server; integration/again_test has real ones.
#include "client/command/again.h"

#include <gmock/gmock.h>

#include <fstream>
#include <string>

#include "kernels/base/digest/sha256.h"
#include "tests/fakes/mp4_head.h"
#include "tests/unit/client/command/command_fixture.h"

namespace reel::client {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kSays[] = R"({"format": "reel.origin.1", "build": "0.2.0", "device": "cpu",
  "spec": {"model": "m", "prompt": "a fox", "seed": 7, "timesteps": [1000, 500], "num_frames": 25,
           "adapters": [{"name": "grain"}], "kernels": {"profile": "auto"},
           "encoding": {"crf": 18, "origin": 3}}})";

class AgainTest : public CommandTest {
 protected:
  std::string File(const std::string& says = kSays) {
    std::ofstream(folder_ + "/a.mp4", std::ios::binary) << mp4::Mp4That(says);
    return folder_ + "/a.mp4";
  }
  int Again(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "again");
    arguments.insert(arguments.end(), {"-o", folder_ + "/b.mp4"});
    return Run(arguments);
  }
};

TEST_F(AgainTest, AsksForWhatTheFileSays) {
  EXPECT_EQ(Again({File()}), 0) << err_;
  EXPECT_EQ(out_, folder_ + "/b.mp4\n");
  EXPECT_EQ(server_.asked().generates.at(0).spec().ShortDebugString(),
            "model: \"m\" prompt: \"a fox\" num_frames: 25 timesteps: 1000 timesteps: 500 seed: 7 "
            "kernels { profile: \"auto\" } "
            "encoding { crf: 18 origin: ORIGIN_SPEC } adapters { name: \"grain\" }");
}

TEST_F(AgainTest, TakesWhatIsGivenInPlaceOfTheFilesOwn) {
  EXPECT_EQ(Again({File(), "--seed", "8", "--steps", "4", "--prompt", "a dog", "--adapter", "film",
                   "--crf", "20", "--kernels", "reference", "--origin", "none"}),
            0)
      << err_;
  EXPECT_EQ(server_.asked().generates.at(0).spec().ShortDebugString(),
            "model: \"m\" prompt: \"a dog\" num_frames: 25 num_inference_steps: 4 seed: 8 "
            "kernels { profile: \"reference\" } "
            "encoding { crf: 20 origin: ORIGIN_NONE } adapters { name: \"film\" }");
}

TEST_F(AgainTest, WantsThePicturesThatAFileWasMadeWith) {
  const std::string file = File(R"({"format": "reel.origin.1", "spec": {"num_frames": 25,
    "conditions": [{"image": "", "size_bytes": 5, "sha256": "cc"}]}})");
  EXPECT_EQ(Again({file}), 3);
  EXPECT_THAT(err_, HasSubstr("a picture at frame 0 that is not in it (5 bytes)"));
  EXPECT_THAT(server_.asked().generates, IsEmpty());
  std::ofstream(folder_ + "/p.png") << "\x89PNG";
  EXPECT_EQ(Again({file, "--last-image", folder_ + "/p.png"}), 0) << err_;
  const v1::VideoSpec spec = server_.asked().generates.at(0).spec();
  ASSERT_EQ(spec.conditions_size(), 1);
  EXPECT_EQ(spec.conditions(0).frame_index(), 24);
  EXPECT_EQ(spec.conditions(0).image(), "\x89PNG");
}

TEST_F(AgainTest, RefusesAFileThatDoesNotSayHowItWasMade) {
  std::ofstream(folder_ + "/plain.mp4", std::ios::binary)
      << mp4::Mp4BoxBytes("ftyp", "isom") << mp4::Mp4BoxBytes("moof", "");
  EXPECT_EQ(Again({folder_ + "/plain.mp4"}), 8);
  EXPECT_THAT(err_, HasSubstr("plain.mp4: It does not say how it was made"));
  EXPECT_EQ(Again({folder_ + "/none.mp4"}), 3);
  EXPECT_THAT(err_, HasSubstr("Cannot read"));
  EXPECT_THAT(server_.asked().generates, IsEmpty());
}

FileBefore Before() { return {"a.mp4", *ParseOrigin(kSays), Sha256Hex("old")}; }

v1::Video With(const std::string& bytes) {
  v1::Video video;
  video.mutable_media()->set_sha256(Sha256Hex(bytes));
  return video;
}

TEST(CompareAgain, SaysWhetherTheBytesAreTheSameAndElseWhy) {
  Origin now = Before().origin;
  EXPECT_EQ(CompareAgain(Before(), With("old"), now, false), "the same bytes as a.mp4");
  EXPECT_THAT(CompareAgain(Before(), With("new"), now, false), HasSubstr("step was shared"));
  EXPECT_EQ(CompareAgain(Before(), With("new"), now, true), "") << "another request";
  now.build = "0.3.0";
  for (const bool given : {false, true}) {
    EXPECT_EQ(CompareAgain(Before(), With("new"), now, given),
              "made otherwise than a.mp4: build: 0.2.0, now 0.3.0");
  }
  EXPECT_EQ(CompareAgain(Before(), With("new"), absl::NotFoundError(""), false), "");
}

}  // namespace
}  // namespace reel::client
