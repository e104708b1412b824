// SPDX-License-Identifier: Apache-2.0
// Any file at all as an adapter. It is refused, or each of its pairs is a product of two matrices
// of one rank with a finite scale. Pairs that name layers of a model have the sides of these
// layers.
#include <cmath>
#include <cstdlib>

#include "model/adapters/adapter_family.h"
#include "model/adapters/adapter_file.h"
#include "tests/fuzz/memory_file.h"

namespace {

using reel::model::LinearTable;

LinearTable Model() {
  const auto table = LinearTable::Of({{"transformer_blocks.0.attn1.to_q", 6, 4},
                                      {"transformer_blocks.0.attn1.to_out.0", 6, 4},
                                      {"time_embed.linear", 6, 4},
                                      {"connectors.text_proj_in", 6, 4},
                                      {"proj_in", 6, 4}});
  if (!table.ok()) std::abort();
  return *table;
}

void Expect(bool holds) {
  if (!holds) std::abort();
}

void CheckProduct(const reel::model::LowRankProduct& product) {
  Expect(product.down->shape.size() >= 2 && product.up->shape.size() >= 2);
  Expect(product.rank() >= 1 && product.rank() <= reel::model::kMostAdapterRank);
  Expect(product.up->shape[1] == product.rank());
  Expect(std::isfinite(product.scale));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const LinearTable model = Model();
  const reel::fuzz::MemoryFile file(data, size);
  const auto adapter = reel::model::AdapterFile::Open(file.path());
  if (!adapter.ok()) return 0;
  Expect(!adapter->pairs().empty());
  for (const auto& pair : adapter->pairs()) CheckProduct(pair.product);
  const auto idle = adapter->CheckValues();
  Expect(!idle.ok() || *idle <= static_cast<int64_t>(adapter->pairs().size()));
  (void)reel::model::CheckFamily(adapter->file(), reel::model::AdapterFamily::kLtx2).ok();
  const auto layers = adapter->LayersIn(model);
  if (!layers.ok()) return 0;
  for (const auto& layer : *layers) {
    Expect(layer.product.up->shape[0] == layer.layer.out);
    Expect(layer.product.down->shape[1] == layer.layer.in);
  }
  return 0;
}
