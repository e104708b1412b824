// SPDX-License-Identifier: Apache-2.0
#include "model/testcard/picture.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace reel::model {
namespace {

std::vector<uint8_t> Green(const std::vector<uint8_t>& rgb) {
  std::vector<uint8_t> green;
  for (size_t i = 1; i < rgb.size(); i += 3) green.push_back(rgb[i]);
  return green;
}

// Mean absolute difference of two pictures.
double Distance(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

TEST(TestPicture, CarriesItsCodeAtEverySize) {
  for (const int width : {32, 64, 96, 384, 1536}) {
    for (const int height : {32, 64, 256, 704}) {
      const TestPicture picture("a fox", 7, width, height);
      for (const int frame : {0, 1, 48, 256}) {
        const auto code = DecodeCode(Green(picture.Draw(frame)), width, width, height);
        ASSERT_TRUE(code) << width << "x" << height;
        EXPECT_EQ(code->frame, frame);
        EXPECT_EQ(code->hash, PictureHash("a fox", 7, width, height));
      }
    }
  }
}

TEST(TestPicture, IsTheSameForTheSameRequest) {
  EXPECT_EQ(TestPicture("a fox", 7, 96, 64).Draw(3), TestPicture("a fox", 7, 96, 64).Draw(3));
}

TEST(TestPicture, LooksDifferentForAnotherPromptOrSeed) {
  const auto fox = TestPicture("a fox", 7, 384, 256).Draw(0);
  EXPECT_GT(Distance(fox, TestPicture("a dog", 7, 384, 256).Draw(0)), 4);
  EXPECT_GT(Distance(fox, TestPicture("a fox", 8, 384, 256).Draw(0)), 4);
}

TEST(TestPicture, Moves) {
  const TestPicture picture("a fox", 7, 384, 256);
  for (int frame = 0; frame < 48; ++frame) {
    EXPECT_NE(picture.Draw(frame), picture.Draw(frame + 1)) << frame;
  }
}

TEST(TestPicture, NoiseGivesWayToThePicture) {
  const TestPicture picture("a fox", 7, 96, 64);
  const auto clean = picture.Draw(0);
  EXPECT_EQ(picture.DrawNoisy(0, 0), clean);
  EXPECT_GT(Distance(picture.DrawNoisy(0, 1), clean), Distance(picture.DrawNoisy(0, 0.3), clean));
}

}  // namespace
}  // namespace reel::model
