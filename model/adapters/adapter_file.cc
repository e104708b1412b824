// SPDX-License-Identifier: Apache-2.0
#include "model/adapters/adapter_file.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/adapters/adapter_error.h"
#include "model/adapters/adapter_family.h"
#include "model/adapters/adapter_values.h"
#include "model/adapters/reference_keys.h"

namespace reel::model {
namespace {

std::string Sides(int64_t out, int64_t in) { return absl::StrCat("[", out, ",", in, "]"); }

}  // namespace

absl::StatusOr<AdapterFile> AdapterFile::Open(const std::string& path) {
  REEL_ASSIGN_OR_RETURN(WeightFile opened, WeightFile::Open(path));
  AdapterFile adapter(std::make_shared<const WeightFile>(std::move(opened)));
  REEL_ASSIGN_OR_RETURN(adapter.pairs_, ReadPairs(adapter.file_));
  REEL_ASSIGN_OR_RETURN(adapter.reference_, ReadReferenceScale(*adapter.file_));
  return adapter;
}

int64_t AdapterFile::rank() const {
  int64_t rank = 0;
  for (const AdapterPair& pair : pairs_) rank = std::max(rank, pair.product.rank());
  return rank;
}

absl::StatusOr<std::vector<AdaptedLayer>> AdapterFile::LayersIn(const LinearTable& model) const {
  std::vector<AdaptedLayer> layers;
  std::set<std::string> seen;
  for (const AdapterPair& pair : pairs_) {
    const std::string& key = pair.product.down->name;
    const LinearLayer* const layer =
        pair.stem.is_flat ? model.FindFlat(pair.stem.layer) : model.Find(pair.stem.layer);
    if (layer == nullptr) {
      return AdapterError(file_->path(), key,
                          absl::StrCat("the model has no such layer", FamilyHint(pairs_)));
    }
    const int64_t out = pair.product.up->shape[0], in = pair.product.down->shape[1];
    if (out != layer->out || in != layer->in) {
      return AdapterError(file_->path(), key,
                          absl::StrCat("its layer is ", Sides(out, in), ", the model's is ",
                                       Sides(layer->out, layer->in), FamilyHint(pairs_)));
    }
    if (!seen.insert(layer->name).second) {
      return AdapterError(file_->path(), key,
                          absl::StrCat("a second pair for the layer ", layer->name));
    }
    layers.push_back({*layer, pair.product});
  }
  return layers;
}

absl::StatusOr<int64_t> AdapterFile::CheckValues() const {
  int64_t idle = 0;
  for (const AdapterPair& pair : pairs_) {
    for (const TensorEntry* entry : {pair.product.down, pair.product.up}) {
      if (!AllFiniteIn(file_->Bytes(*entry), entry->type)) {
        return AdapterError(file_->path(), entry->name, "it has NaN or Inf");
      }
    }
    const TensorEntry& up = *pair.product.up;
    if (AllZeroIn(file_->Bytes(up), up.type)) ++idle;
  }
  return idle;
}

}  // namespace reel::model
