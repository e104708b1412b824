// SPDX-License-Identifier: Apache-2.0
// Pictures and clips that a video must contain, from the command line to the request.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/client/command/command_fixture.h"

namespace reel::client {
namespace {

class ConditionFlagsTest : public CommandTest {
 protected:
  std::string File(const std::string& name, const std::string& bytes) {
    std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  int Generate(const std::vector<std::string>& flags) {
    std::vector<std::string> line = {"generate", "x", "-o", folder_ + "/a.mp4"};
    line.insert(line.end(), flags.begin(), flags.end());
    return Run(line);
  }
  std::string Sent() const {
    const v1::VideoSpec spec = server_.asked().generates.at(0).spec();
    std::string text;
    for (const v1::Condition& condition : spec.conditions()) {
      text += condition.ShortDebugString() + "\n";
    }
    return text;
  }

  const std::string clip_ = std::string("\0\0\0\x1c", 4) + "ftypisomiso5";
};

TEST_F(ConditionFlagsTest, SendsPicturesAndClipsWithTheirPlaces) {
  EXPECT_EQ(
      Generate({"--image", File("a.png", "first"), "--condition",
                File("b@2.jpg", "middle") + "@16:0.5", "--condition", File("c.mp4", clip_) + "@24",
                "--last-image", File("d.webp", "last"), "--frames", "49"}),
      0)
      << err_;
  EXPECT_EQ(Sent(),
            "image: \"first\"\n"
            "image: \"middle\" frame_index: 16 strength: 0.5\n"
            "video: \"\\000\\000\\000\\034ftypisomiso5\" frame_index: 24\n"
            "image: \"last\" frame_index: 48\n");
  EXPECT_TRUE(server_.asked().estimates.empty());
}

TEST_F(ConditionFlagsTest, AsksTheServerWhereTheLastFrameIs) {
  EXPECT_EQ(Generate({"--last-image", File("d.png", "last"), "--preset", "short"}), 0) << err_;
  ASSERT_EQ(server_.asked().estimates.size(), 1u);
  EXPECT_EQ(server_.asked().estimates[0].spec().preset(), "short");
  EXPECT_EQ(server_.asked().estimates[0].spec().conditions_size(), 0);
  EXPECT_EQ(Sent(), "image: \"last\" frame_index: 8\n");
}

TEST_F(ConditionFlagsTest, AFileThatCannotBeSentIsNamedBeforeAnythingIsAsked) {
  EXPECT_EQ(Generate({"--image", folder_ + "/none.png"}), 3);
  EXPECT_NE(err_.find("Cannot read " + folder_ + "/none.png: No such file"), std::string::npos);
  EXPECT_EQ(Generate({"--image", folder_}), 3);
  EXPECT_NE(err_.find("Cannot read " + folder_), std::string::npos);
  EXPECT_EQ(server_.asked().streams, 0);
}

TEST_F(ConditionFlagsTest, ALargeFileIsSentAheadAndNamed) {
  const std::string clip = "1234ftyp" + std::string(5 << 20, 'x');
  EXPECT_EQ(Generate({"--condition", File("clip.mp4", clip), "--sound", File("song.mp4", clip)}), 0)
      << err_;
  EXPECT_EQ(server_.asked().files, (std::vector<std::string>{clip, clip}));
  EXPECT_EQ(Sent(), "file: \"files/1\"\ncontent_type: \"audio/mp4\" file: \"files/2\"\n");
  EXPECT_EQ(Run({"estimate", "x", "--condition", folder_ + "/clip.mp4"}), 0) << err_;
  EXPECT_EQ(server_.asked().estimates.at(0).spec().conditions(0).ShortDebugString(),
            "video: \"\" size_bytes: 5242888");
  EXPECT_EQ(server_.asked().files.size(), 2U);
}

TEST_F(ConditionFlagsTest, WhatARequestHasNoRoomForIsSentAhead) {
  const std::string picture(950 << 10, 'x'), path = File("a.png", picture);
  EXPECT_EQ(Generate({"--condition", path, "--condition", path + "@8", "--condition", path + "@16",
                      "--condition", path + "@24"}),
            0)
      << err_;
  const v1::VideoSpec spec = server_.asked().generates.at(0).spec();
  ASSERT_EQ(spec.conditions_size(), 4);
  EXPECT_TRUE(spec.conditions(2).has_image());
  EXPECT_EQ(spec.conditions(3).file(), "files/1");
}

TEST_F(ConditionFlagsTest, AnOlderServerTakesWhatAMessageHolds) {
  fakes::Refusal unknown;
  unknown.status.set_code(12);
  for (int i = 0; i < 3; ++i) server_.RefuseNext("UploadFile", unknown);
  const std::string half = File("half.png", std::string(2 << 20, 'x'));
  EXPECT_EQ(Generate({"--condition", half}), 0);
  EXPECT_EQ(Generate({"--condition", half, "--condition", half}), 3);
  EXPECT_NE(err_.find("exceed the limit of"), std::string::npos) << err_;
}

TEST_F(ConditionFlagsTest, SendsASoundBehindThePictures) {
  EXPECT_EQ(Generate({"--sound", File("a.wav", "RIFF"), "--image", File("a.png", "first")}), 0)
      << err_;
  EXPECT_EQ(Sent(), "image: \"first\"\naudio: \"RIFF\"\n");
  EXPECT_EQ(Generate({"--sound", folder_ + "/none.wav"}), 3);
  EXPECT_NE(err_.find("Cannot read " + folder_ + "/none.wav"), std::string::npos);
}

TEST_F(ConditionFlagsTest, SendsTheReferenceThatAnAdapterWants) {
  const std::string clip = File("pose:1.mp4", clip_), last = File("d.png", "last");
  const std::string sent = "video: \"\\000\\000\\000\\034ftypisomiso5\" ";
  EXPECT_EQ(Generate({"--reference", clip, "--adapter", "pose", "--last-image", last}), 0) << err_;
  EXPECT_EQ(Sent(), "image: \"last\" frame_index: 8\n" + sent + "use: CONDITION_USE_REFERENCE\n");
  EXPECT_EQ(server_.asked().estimates.at(0).spec().adapters_size(), 0);
  EXPECT_EQ(Generate({"--reference", clip + ":0.5"}), 0) << err_;
  EXPECT_EQ(server_.asked().generates.at(1).spec().conditions(0).strength(), 0.5);
  EXPECT_EQ(Generate({"--reference", clip, "--reference-attention", "0.25"}), 0) << err_;
  EXPECT_EQ(server_.asked().generates.at(2).spec().conditions(0).attention_strength(), 0.25);
  EXPECT_EQ(Generate({"--reference-attention", "0.25"}), 2) << "needs a reference";
  EXPECT_EQ(Generate({"--reference", last}), 3);
  EXPECT_NE(err_.find("Only an MP4 is a reference: " + last), std::string::npos) << err_;
}

TEST_F(ConditionFlagsTest, ARefusalNamesTheFlagAndTheFileThatItIsOf) {
  const std::string image = File("a.png", "first"), last = File("b.png", "last"),
                    sound = File("a.wav", "RIFF");
  fakes::Refusal refusal = fakes::MakeRefusal(3, "INVALID_SPEC", "Invalid.");
  fakes::AddViolation(refusal, "spec.conditions[1].image", "is damaged");
  fakes::AddViolation(refusal, "spec.conditions[2].audio", "is a second sound");
  server_.RefuseNext("GenerateVideo", refusal);
  EXPECT_EQ(Generate({"--image", image, "--last-image", last, "--sound", sound, "--frames", "9"}),
            3);
  EXPECT_NE(err_.find("  --last-image " + last + ": is damaged\n"), std::string::npos) << err_;
  EXPECT_NE(err_.find("  --sound " + sound + ": is a second sound\n"), std::string::npos) << err_;
}

TEST_F(ConditionFlagsTest, APlaceThatIsNoneIsAMistake) {
  for (const char* text : {"@0", "a.png@", "a.png@x", "a.png@0:", "a.png@0:much"}) {
    EXPECT_EQ(Generate({"--condition", text}), 2) << text;
    EXPECT_NE(err_.find("FILE@FRAME:STRENGTH"), std::string::npos) << err_;
  }
}

TEST_F(ConditionFlagsTest, CreateAndEstimateTakeThemToo) {
  const std::string image = File("a.png", "first");
  EXPECT_EQ(Run({"create", "x", "--image", image}), 0) << err_;
  EXPECT_EQ(server_.asked().creates.at(0).spec().conditions(0).image(), "first");
  EXPECT_EQ(Run({"estimate", "x", "--image", image}), 0) << err_;
  EXPECT_EQ(server_.asked().estimates.at(0).spec().conditions(0).image(), "first");
}

}  // namespace
}  // namespace reel::client
