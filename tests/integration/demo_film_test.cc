// SPDX-License-Identifier: Apache-2.0
// The default server, without a configured model, makes a film of a prompt: server, worker, demo
// model, encoder and the command line in one test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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

}  // namespace
}  // namespace reel::tests
