// SPDX-License-Identifier: Apache-2.0
// Rotary tables by the distinct places of each axis, against angles of every token.
#include "model/ltx2/rope.h"

#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace reel::model::ltx2 {
namespace {

constexpr LatentShape kFilm = {.frames = 5, .height = 6, .width = 9};

RopeSettings SettingsOf(const TransformerConfig& config, Rotation rotation) {
  return {.rotation = rotation,
          .num_heads = config.video.num_heads,
          .head_dim = config.video.head_dim,
          .theta = config.rope_theta,
          .in_double = config.double_rope};
}

// Angles [S, pairs] of every token at every frequency, as diffusers makes them.
at::Tensor AnglesOfTokens(const at::Tensor& fractions, const RopeSettings& settings) {
  const int64_t pairs = settings.num_heads * settings.head_dim / 2, axes = fractions.size(0);
  const at::Tensor exponents = at::linspace(0.0, 1.0, pairs / axes, at::TensorOptions(at::kDouble));
  const at::Tensor frequencies = (at::pow(settings.theta, exponents) * M_PI / 2.0).to(at::kFloat);
  const at::Tensor angles = (fractions.t().unsqueeze(-1) * 2 - 1) * frequencies;
  return angles.transpose(1, 2).flatten(1);
}

class RopeTables : public ::testing::Test {
 protected:
  const TransformerConfig config_;
  // A film's tokens, and those of a condition that begins between two of its latent frames.
  at::Tensor PlacesWithCondition() const {
    const at::Tensor film = VideoPlaces(config_, kFilm, 24);
    at::Tensor condition = VideoPlaces(config_, {1, kFilm.height, kFilm.width}, 24).clone();
    condition.select(0, 0).add_(0.7);
    return at::cat({film, condition}, 1);
  }
};

TEST_F(RopeTables, HaveTheBitsOfAnglesOfEveryToken) {
  const at::Tensor fractions = PlacesWithCondition() / 2048;
  for (const Rotation rotation : {Rotation::kSplit, Rotation::kInterleaved}) {
    for (const int64_t axes : {1, 3}) {
      const RopeSettings settings = SettingsOf(config_, rotation);
      const at::Tensor of_axes = fractions.slice(0, 0, axes);
      const at::Tensor angles = AnglesOfTokens(of_axes, settings);
      const auto [cos, sin] = MakeRopeTable(of_axes, settings).dense();
      const auto turned = [&](const at::Tensor& of_pairs) {
        const int64_t each = rotation == Rotation::kSplit ? 1 : 2;
        return of_pairs.repeat_interleave(each, 1);
      };
      const int64_t rest = cos.size(2) - turned(angles).size(1);
      EXPECT_TRUE(at::equal(cos[0].slice(1, rest), turned(angles.cos()))) << axes;
      EXPECT_TRUE(at::equal(sin[0].slice(1, rest), turned(angles.sin()))) << axes;
      EXPECT_TRUE(at::equal(cos[0].slice(1, 0, rest), at::ones_like(cos[0].slice(1, 0, rest))));
      EXPECT_TRUE(at::equal(sin[0].slice(1, 0, rest), at::zeros_like(sin[0].slice(1, 0, rest))));
    }
  }
}

TEST_F(RopeTables, HaveARowForEachPlaceOfAnAxisAlone) {
  const StreamTables film = MakeVideoTables(config_, VideoPlaces(config_, kFilm, 24));
  EXPECT_EQ(film.own.cos_sin().size(0), 5 + 6 + 9);
  EXPECT_EQ(film.cross.cos_sin().size(0), 5);
  EXPECT_EQ(film.own.index().size(1), kFilm.tokens());
  // The condition's time is its own, its rows and columns are the film's.
  const StreamTables all = MakeVideoTables(config_, PlacesWithCondition());
  EXPECT_EQ(all.own.cos_sin().size(0), 6 + 6 + 9);
}

// Numbers of the releases' formulas: frames 0 and 1 + t k of the video, at its rate, and pixels d
// times as far apart.
TEST(ReferencePlaces, AreThoseOfAClipOfItsOwnStretchedToTheVideo) {
  const TransformerConfig config;
  struct Case {
    ReferenceScale scale;
    std::vector<float> seconds, columns;
    float row;
  };
  for (const Case& one : {Case{{1, 1}, {0.02F, 0.2F, 0.52F}, {16, 48}, 16},
                          Case{{2, 1}, {0.02F, 0.2F, 0.52F}, {32, 96}, 32},
                          Case{{1, 4}, {0.02F, 0.68F, 1.96F}, {16, 48}, 16},
                          Case{{2, 4}, {0.02F, 0.68F, 1.96F}, {32, 96}, 32}}) {
    const at::Tensor places = ReferencePlaces(config, {3, 1, 2}, 25, one.scale);
    ASSERT_EQ(places.sizes(), (std::vector<int64_t>{3, 6}));
    for (int64_t token = 0; token < 6; ++token) {
      const auto frame = static_cast<size_t>(token / 2), column = static_cast<size_t>(token % 2);
      EXPECT_NEAR(places[0][token].item<float>(), one.seconds[frame], 1e-6) << token;
      EXPECT_EQ(places[1][token].item<float>(), one.row);
      EXPECT_EQ(places[2][token].item<float>(), one.columns[column]);
    }
  }
  EXPECT_TRUE(
      at::equal(ReferencePlaces(config, kFilm, 24, {1, 1}), VideoPlaces(config, kFilm, 24)));
}

}  // namespace
}  // namespace reel::model::ltx2
