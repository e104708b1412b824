// SPDX-License-Identifier: Apache-2.0
#include "model/layers/feed_forward.h"

#include "model/bridge/row_ops.h"

namespace reel::model {
namespace {

// gelu(expand(x)), as `contract` takes it.
Rows Expanded(const Ops& ops, const FeedForward& layers, const Rows& x) {
  const Linear& expand = layers.expand;
  const RowForm form = expand.FormIn(ops);
  if (form == RowForm::kE4m3Gelu) return LinearGelu(ops, x.values, expand.gelu, expand.bias);
  const RowNeeds needs = layers.contract.NeedsIn(ops);
  if (form == RowForm::kPlain && expand.FusesGelu(ops, x)) return expand.GeluOf(ops, x, needs.room);
  return GeluTanh(ops, expand(ops, x), needs);
}

}  // namespace

void FeedForward::MakeLayersIn(RowForm form) {
  contract.MakeIn(form);
  // The GELU inside the product is for models in bf16; those in fp32 have it for tests. In fp16 its
  // further passes would cost what it saves.
  if (form == RowForm::kInt8 || expand.type() == at::kHalf || !expand.bias.defined()) {
    expand.MakeIn(form);
  } else {
    expand.MakeE4m3Gelu();
  }
}

at::Tensor FeedForward::operator()(const Ops& ops, const Rows& x) const {
  return contract(ops, Expanded(ops, *this, x));
}

void VisitTensors(FeedForward& layer, const TensorVisitor& visit) {
  VisitTensors(layer.expand, visit);
  VisitTensors(layer.contract, visit);
}

FeedForward TakeFeedForward(Weights& weights, const std::string& name, int64_t width,
                            bool has_bias) {
  return {TakeLinear(weights, name + ".net.0.proj", width, 4 * width, has_bias),
          TakeLinear(weights, name + ".net.2", 4 * width, width, has_bias)};
}

}  // namespace reel::model
