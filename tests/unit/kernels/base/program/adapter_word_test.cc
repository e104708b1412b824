// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program/adapter_word.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(AdapterWord, IsANameWithAScale) {
  EXPECT_EQ(ParseAdapterWord("grain").name, "grain");
  EXPECT_EQ(ParseAdapterWord("grain").scale, std::nullopt);
  EXPECT_EQ(ParseAdapterWord("/a:b/style.safetensors:-0.5").name, "/a:b/style.safetensors");
  EXPECT_EQ(ParseAdapterWord("/a:b/style.safetensors:-0.5").scale, -0.5);
  EXPECT_EQ(ParseAdapterWord("film:look").name, "film:look");
}

TEST(AdapterWord, HasScalesOfPartsAndOfPasses) {
  const AdapterWord word = ParseAdapterWord("grain:0.8,audio=0.5,pass=1/0.25,video_to_audio=0");
  EXPECT_EQ(word.name, "grain");
  EXPECT_EQ(word.scale, 0.8);
  EXPECT_THAT(word.part_scales, ElementsAre(Pair("audio", 0.5), Pair("video_to_audio", 0)));
  EXPECT_THAT(word.pass_scales, ElementsAre(1, 0.25));
  EXPECT_THAT(ParseAdapterWord("grain,pass=0").pass_scales, ElementsAre(0));
}

TEST(AdapterWord, KeepsInItsNameWhatIsNoScale) {
  for (const char* text : {"a,b", "a,b=", "a,audio=loud", "a,pass=1/", "a,pass=1/x", "a,Audio=1",
                           "a,=1", "a, audio=1"}) {
    EXPECT_EQ(ParseAdapterWord(text).name, text);
    EXPECT_THAT(ParseAdapterWord(text).part_scales, IsEmpty()) << text;
  }
  // Said twice, one of them would be lost.
  EXPECT_EQ(ParseAdapterWord("a,audio=1,audio=2").name, "a,audio=1");
  EXPECT_EQ(ParseAdapterWord("a,pass=1,pass=2").name, "a,pass=1");
}

}  // namespace
}  // namespace reel
