// SPDX-License-Identifier: Apache-2.0
#include "server/render/exact_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/fakes/temp_folder.h"

namespace reel::render {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ExactFileTest : public ::testing::Test {
 protected:
  std::string Header() const {
    const std::string bytes = folder_.Read("a.safetensors");
    return bytes.substr(8, SizeOf(bytes));
  }
  std::vector<float> Values() const {
    const std::string bytes = folder_.Read("a.safetensors");
    const std::string data = bytes.substr(8 + SizeOf(bytes));
    std::vector<float> values(data.size() / sizeof(float));
    std::memcpy(values.data(), data.data(), data.size());
    return values;
  }
  static absl::Status PushFrame(ExactFile& exact, const std::vector<float>& values) {
    return exact.Push({.format = model::FrameFormat::kRgbF32,
                       .width = 1,
                       .height = 1,
                       .num_frames = 1,
                       .data = {reinterpret_cast<const std::byte*>(values.data()),
                                values.size() * sizeof(float)}});
  }

  const reel::testing::TempFolder folder_;
  PartFile file_ = *PartFile::Open(folder_.File("a.safetensors"), PartFile::Mode::kScratch);

 private:
  static uint64_t SizeOf(const std::string& bytes) {
    uint64_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof(size));
    return size;
  }
};

TEST_F(ExactFileTest, HoldsLatentsTheWaveOfEachChannelAndFrames) {
  ExactFile exact(file_, {"frames", {2, 1, 1, 3}}, /*takes_sound=*/true);
  exact.Add({"latents", {1, 2}}, std::vector<float>{1, 2});
  EXPECT_TRUE(exact.TakesSound());
  const model::SoundFormat format = {.sample_rate = 8000, .channels = 2};
  const std::vector<float> first = {3, 6, 4, 7}, rest = {5, 8};
  ASSERT_TRUE(exact.PushSamples({format, first, false}).ok());
  ASSERT_TRUE(exact.PushSamples({format, rest}).ok());
  ASSERT_TRUE(PushFrame(exact, {9, 10, 11}).ok());
  ASSERT_TRUE(PushFrame(exact, {12, 13, 14}).ok());
  ASSERT_TRUE(exact.Finish().ok());
  ASSERT_TRUE(file_.Commit().ok());
  EXPECT_THAT(Header(), HasSubstr(R"("__metadata__":{"sample_rate":"8000"})"));
  EXPECT_THAT(Header(), HasSubstr(R"("wave":{"dtype":"F32","shape":[2,3])"));
  EXPECT_THAT(Values(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14));
}

TEST_F(ExactFileTest, RefusesFramesBeforeItsLastSound) {
  ExactFile exact(file_, {"frames", {2, 1, 1, 3}}, /*takes_sound=*/true);
  const std::vector<float> samples = {3, 6};
  ASSERT_TRUE(exact.PushSamples({{.sample_rate = 8000, .channels = 2}, samples, false}).ok());
  EXPECT_EQ(PushFrame(exact, {9, 10, 11}).code(), absl::StatusCode::kInternal);
}

TEST_F(ExactFileTest, HasNoWaveWithoutSound) {
  ExactFile exact(file_, {"frames", {1, 1, 1, 3}}, /*takes_sound=*/false);
  EXPECT_FALSE(exact.TakesSound());
  ASSERT_TRUE(PushFrame(exact, {1, 2, 3}).ok());
  ASSERT_TRUE(exact.Finish().ok());
  ASSERT_TRUE(file_.Commit().ok());
  EXPECT_THAT(Header(), Not(HasSubstr("wave")));
  EXPECT_THAT(Header(), Not(HasSubstr("__metadata__")));
}

TEST_F(ExactFileTest, NoticesMissingFrames) {
  ExactFile exact(file_, {"frames", {2, 1, 1, 3}}, /*takes_sound=*/false);
  EXPECT_EQ(exact.Finish().code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace reel::render
