// SPDX-License-Identifier: Apache-2.0
#include "model/content_type.h"

#include <string>

#include "gtest/gtest.h"

namespace reel::model {
namespace {

TEST(ContentType, IsToldByTheFirstBytes) {
  EXPECT_EQ(ContentTypeOf("\x89PNG\r\n\x1a\n and more"), "image/png");
  EXPECT_EQ(ContentTypeOf("\xff\xd8\xff and more"), "image/jpeg");
  EXPECT_EQ(ContentTypeOf("RIFF1234WEBP"), "image/webp");
  EXPECT_EQ(ContentTypeOf("1234ftypisom"), "video/mp4");
  EXPECT_EQ(ContentTypeOf("RIFF1234WAVE"), "audio/wav");
  EXPECT_EQ(ContentTypeOf("fLaC"), "audio/flac");
  EXPECT_EQ(ContentTypeOf("ID3"), "audio/mpeg");
  EXPECT_EQ(ContentTypeOf("GIF89a"), "");
  EXPECT_EQ(ContentTypeOf(""), "");
}

TEST(ContentType, ASoundIsNoPicture) {
  EXPECT_EQ(PictureTypeOf("fLaC"), "");
  EXPECT_EQ(PictureTypeOf("1234ftypM4A "), "video/mp4");
}

}  // namespace
}  // namespace reel::model
