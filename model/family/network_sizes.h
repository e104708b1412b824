// SPDX-License-Identifier: Apache-2.0
// The sizes of the networks that every family has, for the plan of a device's memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/bridge/aten.h"
#include "model/fit_plan.h"

namespace reel::model {

// Of the text encoder, the transformer with its room for adapters, and the encoder of pictures.
// What lies between and behind them is the family's to add.
template <typename Model>
WeightSizes NetworkSizes(const Model& model) {
  const auto& text = model.prompts.encoder();
  const auto& transformer = model.transformer;
  WeightSizes sizes;
  sizes.text_layers = text.layer_bytes().all;
  sizes.text_layer = text.layer_bytes().largest;
  sizes.text_table = text.table_bytes();
  sizes.text_rest = std::max<int64_t>(text.bytes() - sizes.text_layers - sizes.text_table, 0);
  sizes.blocks = transformer.block_bytes().each;
  const int64_t blocks = transformer.block_bytes().all;
  sizes.around_blocks = std::max<int64_t>(transformer.bytes() - blocks, 0);
  if (model.adapter_shelf != nullptr) {
    sizes.around_blocks += model.adapter_shelf->columns().room().bytes();
  }
  sizes.encoder_layers = model.encoder.layer_bytes().all;
  sizes.encoder_layer = model.encoder.layer_bytes().largest;
  sizes.codes = blocks / static_cast<int64_t>(c10::elementSize(model.dtype));
  sizes.form = transformer.form();
  sizes.can_stream_blocks = true;
  return sizes;
}

}  // namespace reel::model
