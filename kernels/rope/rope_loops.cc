// SPDX-License-Identifier: Apache-2.0
// The oracle: fp64 angles and products, one rounding.
#include <cmath>
#include <vector>

#include "kernels/base/float_types.h"
#include "kernels/rope/rope_launch.h"

namespace reel::kernels {
namespace {

// Applies a token's rotation to one pair of channels of every head.
struct Turn {
  int64_t first;
  int64_t second;
  double cos;
  double sin;
};

std::vector<Turn> TurnsOf(const RopeParams& params, const RopeOperand& operand, int64_t batch,
                          int64_t token) {
  std::vector<Turn> turns;
  for (int s = 0; s < 3; ++s) {
    const RopeSection& section = params.sections[s];
    const auto coordinate = static_cast<double>(RopeCoordinate(params, operand, batch, token, s));
    for (int64_t i = 0; i < section.pairs; ++i) {
      const double angle =
          coordinate *
          std::pow(section.theta, -static_cast<double>(i) / static_cast<double>(section.pairs));
      turns.push_back({RopeFirst(params, section, i), RopeSecond(params, section, i),
                       std::cos(angle), std::sin(angle)});
    }
  }
  return turns;
}

double WeightOf(const RopeOperand& operand, int64_t channel) {
  if (operand.weight.data == nullptr) return 1;
  return VisitFloating(operand.weight.dtype, [&]<typename T>(T) {
    const T* weight = static_cast<const T*>(operand.weight.data);
    return static_cast<double>(ToFloat(weight[channel * operand.weight.inner]));
  });
}

// The norm's factor for a head's values.
template <typename T>
double ScaleOf(const RopeParams& params, const RopeOperand& operand, const T* in) {
  if (!params.normed) return 1;
  double squares = 0;
  for (int64_t channel = 0; channel < params.head_width; ++channel) {
    const auto x = static_cast<double>(ToFloat(in[channel * operand.in_strides[3]]));
    squares += x * x;
  }
  return 1 / std::sqrt(squares / static_cast<double>(params.head_width) +
                       static_cast<double>(params.eps));
}

template <typename T>
void TurnHead(const RopeParams& params, const RopeOperand& operand, const std::vector<Turn>& turns,
              const T* in, T* out) {
  const double scale = ScaleOf(params, operand, in);
  const auto read = [&](int64_t channel) {
    const auto x = static_cast<double>(ToFloat(in[channel * operand.in_strides[3]]));
    return params.normed ? x * scale * WeightOf(operand, channel) : x;
  };
  for (const Turn& turn : turns) {
    const double a = read(turn.first);
    const double b = read(turn.second);
    out[turn.first * operand.out_strides[3]] = RoundTo<T>(a * turn.cos - b * turn.sin);
    out[turn.second * operand.out_strides[3]] = RoundTo<T>(b * turn.cos + a * turn.sin);
  }
  for (int64_t channel = params.rotated; channel < params.head_width; ++channel) {
    out[channel * operand.out_strides[3]] = RoundTo<T>(read(channel));
  }
}

template <typename T>
void TurnOperand(const RopeParams& params, const RopeOperand& operand) {
  for (int64_t batch = 0; batch < params.batch; ++batch) {
    for (int64_t token = 0; token < operand.tokens; ++token) {
      const std::vector<Turn> turns = TurnsOf(params, operand, batch, token);
      for (int64_t head = 0; head < operand.heads; ++head) {
        const auto at = [&](const int64_t(&strides)[4]) {
          return batch * strides[0] + token * strides[1] + head * strides[2];
        };
        TurnHead(params, operand, turns, static_cast<const T*>(operand.in) + at(operand.in_strides),
                 static_cast<T*>(operand.out) + at(operand.out_strides));
      }
    }
  }
}

}  // namespace

void RopeLoops(const RopeParams& params) {
  VisitFloating(params.dtype, [&]<typename T>(T) {
    for (const RopeOperand& operand : params.operands) TurnOperand<T>(params, operand);
  });
}

}  // namespace reel::kernels
