// SPDX-License-Identifier: Apache-2.0
// A linear layer: y = x W^T + b.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/bridge/low_rank.h"
#include "model/bridge/ops.h"
#include "model/layers/tensor_visitor.h"
#include "model/layers/weights.h"

namespace reel::model {

struct Linear {
  at::Tensor weight;            // [out, in]; undefined where codes stand in its place
  at::Tensor bias;              // [out], or undefined
  CodedWeight e4m3 = {};        // the same weight, after MakeE4m3, or of the file
  CodedWeight int8 = {};        // after MakeInt8
  E4m3Gelu gelu = {};           // after MakeE4m3Gelu if e4m3 is not there
  LowRankColumns columns = {};  // for requests' adapters, where the model was loaded with room
  // The type of a weight that goes once its codes in e4m3 are made (WeightsForm::kE4m3).
  std::optional<at::ScalarType> replaced = {};
  // Whether rows in e4m3 meet the file's codes. Else they are values to be widened only.
  bool multiplies_codes = true;

  bool defined() const { return weight.defined() || e4m3.defined() || gelu.defined(); }
  int64_t outputs() const { return held().size(0); }
  int64_t inputs() const { return held().size(1); }
  at::ScalarType type() const { return replaced ? *replaced : weight.scalar_type(); }
  // The weight, or what its codes stand for: rounded once, in its type.
  at::Tensor Values() const;

  // Whether calls by `ops` add what is in the columns.
  bool Adapts(const Ops& ops) const { return columns.defined() && ops.adapter_scales().defined(); }

  // The form of rows that it takes in a request: that of the request's profile if it has codes for
  // it, else plain. Where it adapts, plain: adapters have no codes.
  RowForm FormIn(const Ops& ops) const;
  // The same, and the room behind plain rows that lets adapters and weight be one product.
  RowNeeds NeedsIn(const Ops& ops) const { return {FormIn(ops), RoomIn(ops)}; }

  at::Tensor operator()(const Ops& ops, const at::Tensor& x) const;
  // Takes rows in any form but kE4m3Gelu; codes are multiplied with the weight's codes of the same
  // kind. Where it adapts it takes plain rows, and makes codes of them for the weight's.
  at::Tensor operator()(const Ops& ops, const Rows& x) const;
  // gelu_tanh of the outputs for plain rows, inside the product. Needs a bias and a weight that is
  // not multiplied as codes; adapters must be stored behind the weight. `room`: of the result.
  bool FusesGelu(const Ops& ops, const Rows& x) const;
  Rows GeluOf(const Ops& ops, const Rows& x, int64_t room) const;

  // Whether 8-bit products take a weight of this shape.
  bool Takes(RowForm form) const;
  // MakeInt8 for kInt8, else MakeE4m3.
  void MakeIn(RowForm form) { form == RowForm::kInt8 ? MakeInt8() : MakeE4m3(); }
  // Both sides must be multiples of kE4m3Sides. Scales are powers of two, so that a checkpoint
  // stored in e4m3 keeps its values; for others any scale is as good. Codes of a file stay.
  void MakeE4m3();
  // Uses the format of int8_rows, so the width must be a multiple of kTurnedTogether.
  void MakeInt8();
  // Instead of MakeE4m3, for a layer between an RMS norm and a GELU.
  void MakeE4m3Gelu();

 private:
  RowForm CodesIn(const Ops& ops) const;
  bool MultipliesPlain(const Ops& ops) const;
  int64_t RoomIn(const Ops& ops) const;
  bool TakesWhole(const Ops& ops, const Rows& x) const;
  at::Tensor Product(const Ops& ops, const Rows& x) const;
  const at::Tensor& held() const;
  void DropWeight();
};

// Its weight and bias; without codes, unless they stand in the weight's place.
void VisitTensors(Linear& layer, const TensorVisitor& visit);

// The outputs of `layer` from `first` on, where a part begins, as a layer. A view; without
// MakeE4m3Gelu's codes.
Linear OutputsFrom(const Linear& layer, int64_t first);

// Reads `name`.weight and, if `has_bias`, `name`.bias.
Linear TakeLinear(Weights& weights, const std::string& name, int64_t in, int64_t out,
                  bool has_bias = true);

// Joins several layers of one input into one, whose outputs are concatenated in the order of
// `names`.
Linear TakeLinears(Weights& weights, const std::vector<std::string>& names, int64_t in, int64_t out,
                   bool has_bias = true);

}  // namespace reel::model
