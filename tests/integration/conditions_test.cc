// SPDX-License-Identifier: Apache-2.0
// Pictures are sent to a real worker with a tiny LTX-Video model, which renders a video from them.
// Bytes that are no picture are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "tests/fakes/decoded_video.h"
#include "tests/fakes/tiny_ltx.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Golden(const std::string& name) {
  std::ifstream in(std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/pictures/" + name,
                   std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Conditions : public ::testing::Test {
 protected:
  static ServerSetup Setup(const std::string& path) {
    ServerSetup setup;
    setup.config = absl::StrCat("models { name: 'tiny' path: '", path, "' dtype: 'fp32' }");
    return setup;
  }
  static v1::VideoSpec Spec() { return TinyModelSpec(17); }
  static v1::VideoSpec WithImage(const std::string& bytes, int frame = 0) {
    v1::VideoSpec spec = Spec();
    v1::Condition& condition = *spec.add_conditions();
    condition.set_image(bytes);
    condition.set_frame_index(frame);
    return spec;
  }

  const model::ltx::TinyFolder folder_{"0.9.5"};
  ReelServer server_{Setup(folder_.path())};
  Calls calls_{server_.Connect()};
};

TEST_F(Conditions, APictureChangesTheVideo) {
  const StreamResult plain = calls_.Generate(Spec());
  ASSERT_TRUE(plain.status.ok()) << plain.status.error_message();
  std::vector<std::string> files = {plain.file};
  for (const char* name : {"rgb.png", "420.jpg", "lossy.webp"}) {
    const StreamResult result = calls_.Generate(WithImage(Golden(name)));
    ASSERT_TRUE(result.status.ok()) << name << ": " << result.status.error_message();
    EXPECT_THAT(result.faults, IsEmpty());
    EXPECT_EQ(result.finished.state(), v1::VIDEO_STATE_SUCCEEDED);
    const auto video = reel::testing::Decode(result.file);
    ASSERT_TRUE(video.ok()) << video.status();
    EXPECT_EQ(video->luma.size(), 17U);
    EXPECT_NE(result.file, plain.file);
    files.push_back(result.file);
  }
  // The same picture, losslessly or not, is not quite the same video; the same request is.
  EXPECT_EQ(calls_.Generate(WithImage(Golden("rgb.png"))).file, files[1]);
}

TEST_F(Conditions, AVideoOfOursIsAClip) {
  const StreamResult plain = calls_.Generate(Spec());
  ASSERT_TRUE(plain.status.ok()) << plain.status.error_message();
  v1::VideoSpec spec = WithImage(Golden("rgb.png"));
  spec.set_num_frames(33);
  v1::Condition& clip = *spec.add_conditions();
  clip.set_video(plain.file);
  clip.set_frame_index(16);
  clip.set_strength(0.8);
  const StreamResult result = calls_.Generate(spec);
  ASSERT_TRUE(result.status.ok()) << result.status.error_message();
  EXPECT_EQ(result.finished.state(), v1::VIDEO_STATE_SUCCEEDED);
}

TEST_F(Conditions, WhatIsNoPictureIsNamed) {
  v1::VideoSpec spec = WithImage(Golden("rgb.png"));
  const std::string broken = Golden("420.jpg");
  spec.add_conditions()->set_image(broken.substr(0, broken.size() / 2));
  const StreamResult cut = calls_.Generate(spec);
  EXPECT_EQ(cut.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(cut.reason(), "INVALID_SPEC");
  EXPECT_THAT(cut.status.error_message(), HasSubstr("conditions[1] is incomplete"));
  EXPECT_EQ(cut.restarts, 0);

  spec = Spec();
  spec.set_num_frames(33);
  v1::Condition& clip = *spec.add_conditions();
  clip.set_video(Golden("rgb.png"));
  const StreamResult picture = calls_.Generate(spec);
  EXPECT_THAT(picture.status.error_message(), HasSubstr("conditions[0] is not an MP4 clip"));
  // Nothing was lost but the job.
  EXPECT_TRUE(calls_.Generate(Spec()).status.ok());
}

TEST_F(Conditions, WhatOnlyTheModelCanCheckIsTheCallersToo) {
  const StreamResult plain = calls_.Generate(Spec());
  v1::VideoSpec spec = Spec();
  spec.set_num_frames(33);
  v1::Condition& clip = *spec.add_conditions();
  clip.set_video(plain.file);
  clip.set_frame_index(5);
  const StreamResult result = calls_.Generate(spec);
  EXPECT_EQ(result.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(result.status.error_message(), HasSubstr("must be a multiple of 8"));
}

}  // namespace
}  // namespace reel::tests
