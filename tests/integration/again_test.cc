// SPDX-License-Identifier: Apache-2.0
// reel again by the real programs: a file that says how it was made is made anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/fakes/mp4_boxes.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using mp4::kOriginUuid;
using mp4::kXmpUuid;
using mp4::UuidPayload;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class AgainTest : public ::testing::Test {
 protected:
  ProgramResult Reel(std::vector<std::string> arguments, const std::string& output) {
    arguments.insert(arguments.end(), {"--server", server_.address(), "-o", folder_.File(output)});
    return RunProgram(BinaryPath("reel"), arguments);
  }
  ProgramResult Generate(std::vector<std::string> more, const std::string& output) {
    std::vector<std::string> arguments = {
        "generate", "a secret fox", "--seed",   "7", "--width", "64",
        "--height", "64",           "--frames", "9", "--steps", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Reel(arguments, output);
  }

  ReelServer server_{
      {"models { name: 'testcard' test_card { step_time { nanos: 1000000 } sound: true } }",
       {},
       ""}};
  const testing::TempFolder folder_;
};

TEST_F(AgainTest, AFileThatSaysHowItWasMadeIsMadeAnewToTheByte) {
  ASSERT_EQ(Generate({"--origin", "spec"}, "a.mp4").status, 0);
  const ProgramResult again = Reel({"again", folder_.File("a.mp4")}, "b.mp4");
  ASSERT_EQ(again.status, 0) << again.errors;
  EXPECT_THAT(again.errors, HasSubstr("the same bytes as " + folder_.File("a.mp4")));
  EXPECT_EQ(folder_.Read("b.mp4"), folder_.Read("a.mp4"));
  EXPECT_FALSE(folder_.Read("a.mp4").empty());

  const ProgramResult other = Reel({"again", folder_.File("a.mp4"), "--seed", "8"}, "c.mp4");
  ASSERT_EQ(other.status, 0) << other.errors;
  EXPECT_THAT(other.errors, Not(HasSubstr("note: ")));
  EXPECT_NE(folder_.Read("c.mp4"), folder_.Read("a.mp4"));
  EXPECT_THAT(UuidPayload(folder_.Read("c.mp4"), kOriginUuid), HasSubstr("\"seed\":8"));
}

TEST_F(AgainTest, AFileOfAnotherBuildIsMadeAllTheSameAndTheDifferenceNamed) {
  ASSERT_EQ(Generate({"--origin", "spec"}, "a.mp4").status, 0);
  std::string file = folder_.Read("a.mp4");
  const size_t build = file.find("\"build\":\"");
  ASSERT_NE(build, std::string::npos);
  file[build + 9] = '9';
  const std::string old = folder_.Write("old.mp4", file);
  const ProgramResult again = Reel({"again", old}, "b.mp4");
  ASSERT_EQ(again.status, 0) << again.errors;
  EXPECT_THAT(again.errors, HasSubstr("made otherwise than " + old + ": build: 9."));
  EXPECT_EQ(folder_.Read("b.mp4"), folder_.Read("a.mp4"));
}

TEST_F(AgainTest, AFileSaysByDefaultThatAMachineMadeItAndNothingOfItsRequest) {
  ASSERT_EQ(Generate({}, "a.mp4").status, 0);
  const std::string file = folder_.Read("a.mp4");
  EXPECT_THAT(UuidPayload(file, kXmpUuid), HasSubstr("trainedAlgorithmicMedia"));
  EXPECT_THAT(file, Not(HasSubstr("secret fox")));
  const ProgramResult again = Reel({"again", folder_.File("a.mp4")}, "b.mp4");
  EXPECT_EQ(again.status, 8);
  EXPECT_THAT(again.errors, HasSubstr("It does not say how it was made"));
  EXPECT_FALSE(folder_.Has("b.mp4"));

  ASSERT_EQ(Generate({"--origin", "none"}, "c.mp4").status, 0);
  EXPECT_THAT(mp4::TypesOf(folder_.Read("c.mp4")), Not(HasSubstr("uuid")));
}

TEST_F(AgainTest, AFileThatNobodyServedIsMadeAnewByAServer) {
  const std::string rendered = folder_.File("r.mp4");
  const ProgramResult render = RunProgram(
      BinaryPath("reel-render"),
      {"--model",  "testcard", "--prompt", "a fox",        "--seed",   "7",       "--width",
       "64",       "--height", "64",       "--num-frames", "9",        "--steps", "2",
       "--device", "cpu",      "--origin", "spec",         "--output", rendered});
  ASSERT_EQ(render.status, 0) << render.errors;
  const ProgramResult again = Reel({"again", rendered, "--no-sound"}, "b.mp4");
  ASSERT_EQ(again.status, 0) << again.errors;
  const std::string origin = UuidPayload(folder_.Read("b.mp4"), kOriginUuid);
  EXPECT_THAT(origin, HasSubstr(R"("sound":false)"));
  EXPECT_THAT(again.errors, Not(HasSubstr("made otherwise"))) << "the same build and device";
}

}  // namespace
}  // namespace reel::tests
