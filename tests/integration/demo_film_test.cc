// SPDX-License-Identifier: Apache-2.0
// The models that come along make films of prompts, with what is seen and heard in the file:
// server, worker, demo model, encoder and the command line in one test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/fakes/decoded_video.h"
#include "tests/fakes/temp_folder.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::SizeIs;

constexpr double kVisible = 20;  // of 255: a difference of brightness that anybody sees

double MeanDifference(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::abs(int{a[i]} - int{b[i]});
  return sum / static_cast<double>(a.size());
}

TEST(DemoFilm, AShapeThatMovesIsInTheFileThatReelWrote) {
  const ReelServer server({absl::StrCat("models { name: 'ltx-demo' path: '",
                                        std::getenv("REEL_SOURCE"), "/model/demo/weights' }"),
                           {},
                           "",
                           true});
  const testing::TempFolder folder;
  const std::string file = folder.File("film.mp4");
  const ProgramResult generate =
      RunProgram(BinaryPath("reel"), {"generate", "--server", server.address(), "-o", file, "--",
                                      "a red circle bouncing over blue waves"});
  ASSERT_EQ(generate.status, 0) << generate.errors;

  const auto film = testing::Decode(folder.Read("film.mp4"));
  ASSERT_TRUE(film.ok()) << film.status();
  ASSERT_THAT(film->luma, SizeIs(::testing::Ge(17)));
  const auto& first = film->luma.front();
  const auto [darkest, brightest] = std::minmax_element(first.begin(), first.end());
  EXPECT_GT(*brightest - *darkest, kVisible) << "a picture of one grey";
  double most = 0;
  for (const auto& frame : film->luma) most = std::max(most, MeanDifference(first, frame));
  EXPECT_GT(most, 1) << "nothing moves";
}

// How much louder the left ear is than the right one, in an eighth of the film.
double LeftOverRight(const std::vector<float>& sound, size_t eighth) {
  const size_t samples = sound.size() / 16 * 2, begin = eighth * samples;
  double left = 0, right = 0;
  for (size_t i = begin; i < begin + samples; i += 2) {
    left += double{sound[i]} * double{sound[i]};
    right += double{sound[i + 1]} * double{sound[i + 1]};
  }
  return std::sqrt(left / right);
}

TEST(DemoFilm, WhatSlidesLeftIsHeardMoreAndMoreInTheLeftEar) {
  const ReelServer server(
      {absl::StrCat("models { name: 'ltx2-demo' path: '", std::getenv("REEL_SOURCE"),
                    "/model/demo/films/weights' dtype: 'fp32' }"),
       {},
       "",
       true});
  const testing::TempFolder folder;
  const std::string file = folder.File("film.mp4");
  const ProgramResult generate = RunProgram(
      BinaryPath("reel"), {"generate", "--server", server.address(), "--seed", "2", "-o", file,
                           "--", "a green triangle sliding left over a gray checkerboard"});
  ASSERT_EQ(generate.status, 0) << generate.errors;

  const auto film = testing::Decode(folder.Read("film.mp4"));
  ASSERT_TRUE(film.ok()) << film.status();
  ASSERT_EQ(film->channels, 2);
  EXPECT_LT(LeftOverRight(film->sound, 1), 0.8);
  EXPECT_GT(LeftOverRight(film->sound, 6), 1.25);
}

}  // namespace
}  // namespace reel::tests
