// SPDX-License-Identifier: Apache-2.0
// Rows on the way to a linear layer, and its weights. They are in the model's type, or in 8 bits
// with a scale for each row if the profile says so ("fp8", "int8").
#pragma once

#include "model/bridge/aten.h"

namespace reel::model {

// Whether all rows are the same distance apart, so that they can be viewed as a matrix.
inline bool HasEvenRows(const at::Tensor& rows) {
  if (rows.stride(-1) != 1) return false;
  for (int64_t d = rows.dim() - 2; d > 0; --d) {
    if (rows.size(d - 1) != 1 && rows.stride(d - 1) != rows.size(d) * rows.stride(d)) return false;
  }
  return true;
}

enum class RowForm {
  kPlain,
  kE4m3,
  kInt8,      // turned, as int8_rows makes them
  kE4m3Gelu,  // e4m3 with the scale kE4m3GeluXScale for all rows, which Rows does not hold
};

struct Rows {
  at::Tensor values;      // [..., D], codes where there are scales
  at::Tensor scale = {};  // fp32 [...]; undefined of plain rows and kE4m3Gelu
  // [..., D + room]: plain rows with the room behind them; undefined of others.
  at::Tensor whole = {};
};

// Plain rows without values, with the room.
inline Rows EmptyRows(at::IntArrayRef sizes, const at::TensorOptions& options, int64_t room) {
  if (room == 0) return {at::empty(sizes, options)};
  auto longer = sizes.vec();
  longer.back() += room;
  const at::Tensor whole = at::empty(longer, options);
  return {whole.narrow(-1, 0, sizes.back()), {}, whole};
}

// The form in which a layer takes its rows, and how many elements of room it wants behind plain
// ones.
struct RowNeeds {
  RowNeeds(RowForm of, int64_t behind = 0) : form(of), room(behind) {}  // NOLINT: a form alone

  RowForm form;
  int64_t room;
};

// Weights of a linear layer in 8 bits: a row for each output, with the scale of the row.
struct CodedWeight {
  at::Tensor codes;  // [out, in], e4m3 or int8
  at::Tensor scale;  // fp32 [out]

  bool defined() const { return codes.defined(); }
};

// Codes in e4m3 of this shape, [out, in], without values.
inline CodedWeight EmptyE4m3(at::IntArrayRef shape, at::Device device) {
  const at::TensorOptions options(device);
  return {at::empty(shape, options.dtype(at::kFloat8_e4m3fn)),
          at::empty({shape[0]}, options.dtype(at::kFloat))};
}

// Scales of a linear layer with a GELU behind it. One for all rows of x, known before they are
// made; one for the weight; one for the output, which no value can exceed.
struct E4m3Gelu {
  at::Tensor codes;                  // [out, in]
  at::Tensor x_scale, weight_scale;  // fp32 [1], on the weight's device
  at::Tensor to_out;                 // 1 / out_scale, as those
  at::Tensor out_scales;             // fp32 [kE4m3GeluRows], out_scale each
  double out_scale = 0;

  bool defined() const { return codes.defined(); }
};
// The rows of an RMS norm reach sqrt(D), and a modulation makes some times as much of it: 448 codes
// are enough. What is small is not lost: codes have exponents.
inline constexpr double kE4m3GeluXScale = 1;
// As many as two rows of the largest video have; more get a vector of their own at each call.
inline constexpr int64_t kE4m3GeluRows = int64_t{1} << 16;

// What 8-bit products want of both sides of a weight.
inline constexpr int64_t kE4m3Sides = 16;

}  // namespace reel::model
