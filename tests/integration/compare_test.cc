// SPDX-License-Identifier: Apache-2.0
// reel compare and reel ab by the real programs, on ltx-demo.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kNoVerdict = 11;

ServerSetup DemoSetup() {
  ServerSetup setup;
  setup.config = absl::StrCat("models { name: 'demo' path: '", std::getenv("REEL_SOURCE"),
                              "/model/demo/weights' dtype: 'fp32' }");
  return setup;
}

class CompareTest : public ::testing::Test {
 protected:
  ProgramResult Reel(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin() + 1, "a red circle");
    arguments.insert(arguments.end(), {"--server", server_.address(), "--width", "128", "--height",
                                       "128", "--frames", "9", "--steps", "3"});
    return RunProgram(BinaryPath("reel"), arguments);
  }
  // Every video that the server has, in the order in which they were made.
  std::vector<v1::Video> Videos() {
    std::vector<v1::Video> videos;
    for (const v1::Video& listed : calls_.List())
      videos.insert(videos.begin(), calls_.Get(listed.name()));
    return videos;
  }

  ReelServer server_{DemoSetup()};
  Calls calls_{server_.Connect()};
  const testing::TempFolder folder_;
};

std::set<std::string> VariantsOf(const v1::Video& video, const std::string& op) {
  std::set<std::string> variants;
  for (const v1::KernelUse& use : video.stats().kernels()) {
    if (use.op() == op) variants.insert(use.variant());
  }
  return variants;
}

TEST_F(CompareTest, ArmsWithTheSameKernelsGiveEqualPicturesAndNoVerdict) {
  const ProgramResult same = Reel({"ab", "--a", "auto", "--b", "+linear=aten", "-n", "6"});
  EXPECT_EQ(same.status, kNoVerdict) << same.errors;
  EXPECT_THAT(same.out, HasSubstr("pictures identical\n"));
  EXPECT_THAT(same.out, HasSubstr("verdict: none: both arms ran the same kernels\n"));
}

TEST_F(CompareTest, AnArmThatIsSlowerGetsItsVerdictAndBothRanTheirPlan) {
  const ProgramResult slower =
      Reel({"ab", "--a", "auto", "--b", "auto+linear=loops", "-n", "8", "--json"});
  ASSERT_EQ(slower.status, 0) << slower.out << slower.errors;
  google::protobuf::Struct json;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(slower.out, &json).ok());
  EXPECT_EQ(json.fields().at("verdict").string_value(), "slower");
  EXPECT_GT(json.fields().at("low").number_value(), 1);
  EXPECT_LT(json.fields().at("p").number_value(), 0.05);
  // Another order of the sums; on some processors no byte of these few frames differs by it.
  if (!json.fields().at("identical").bool_value()) {
    EXPECT_GT(json.fields().at("psnrDb").number_value(), 40);
  }
  const std::vector<v1::Video> videos = Videos();
  ASSERT_EQ(videos.size(), 18u);
  const std::string order = "ababbaabbaabbaabba";
  for (size_t i = 0; i < videos.size(); ++i) {
    const v1::Video& video = videos[i];
    const bool is_b = order[i] == 'b';
    EXPECT_THAT(VariantsOf(video, "linear"), ::testing::ElementsAre(is_b ? "loops" : "aten")) << i;
    EXPECT_EQ(video.spec().seed(), videos[0].spec().seed()) << i;
    EXPECT_EQ(video.worker(), videos[0].worker()) << i;
  }
}

TEST_F(CompareTest, CompareShowsBothSideBySide) {
  const std::string stem = folder_.File("two");
  const ProgramResult made = Reel({"compare", "--kernels", "auto,auto+rms_norm=loops", "-o", stem});
  ASSERT_EQ(made.status, 0) << made.errors;
  EXPECT_THAT(made.out, ::testing::ContainsRegex("rms_norm +denoise +cpu +[0-9.]+ ms +loops"));
  EXPECT_THAT(made.out, HasSubstr("\npictures "));
  EXPECT_THAT(made.out, HasSubstr(stem + "-a.mp4\n" + stem + "-b.mp4\n" + stem + ".png\n"));
  EXPECT_THAT(folder_.Read("two-a.mp4"), HasSubstr("ftyp"));
  EXPECT_THAT(folder_.Read("two.png"), StartsWith("\x89PNG"));
  const ProgramResult itself =
      RunProgram(BinaryPath("reel-frames"), {stem + "-a.mp4", stem + "-a.mp4"});
  EXPECT_EQ(itself.out, "{\"frames\":9,\"identical\":true,\"ssim\":1.000000}\n");
  const ProgramResult none =
      RunProgram(BinaryPath("reel-frames"), {stem + "-a.mp4", stem + ".png"});
  EXPECT_EQ(none.status, 3);
  EXPECT_EQ(none.errors, "error: " + stem + ".png is not an MP4 clip, or is damaged\n");
  EXPECT_EQ(Reel({"compare", "--kernels", "auto,nothing", "-o", stem}).status, 3);
}

}  // namespace
}  // namespace reel::tests
