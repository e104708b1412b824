// SPDX-License-Identifier: Apache-2.0
#include "model/adapting/loaded_adapter.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/layers/merged_weight.h"
#include "model/request_adapter.h"

namespace reel::model {
namespace {

absl::StatusOr<LoadedAdapter::Layer> LoadLayer(const LowRankProduct& product, size_t index,
                                               const AdapterRoom::Layer& room, int64_t columns) {
  const at::TensorOptions held = room.down.options();
  REEL_ASSIGN_OR_RETURN(const at::Tensor down, ReadMatrix(product, *product.down, held.device()));
  REEL_ASSIGN_OR_RETURN(const at::Tensor up, ReadMatrix(product, *product.up, held.device()));
  const int64_t rank = product.rank();
  const at::Tensor own_down = at::zeros({columns, down.size(1)}, held);
  own_down.slice(0, 0, rank).copy_(down);
  const at::Tensor own_up = at::zeros({up.size(0), columns}, held);
  own_up.slice(1, 0, rank).copy_(up.mul(product.scale));
  if (!at::isfinite(own_up).all().item<bool>() || !at::isfinite(own_down).all().item<bool>()) {
    return absl::DataLossError(
        absl::StrCat("a value of the adapter is not finite in the model's type: ", room.name));
  }
  return LoadedAdapter::Layer{.index = index,
                              .down = own_down.view({-1, kAdapterSlot, down.size(1)}),
                              .up = own_up.view({up.size(0), -1, kAdapterSlot})};
}

}  // namespace

absl::StatusOr<std::shared_ptr<const LoadedAdapter>> LoadAdapter(
    const std::vector<AdaptedLayer>& layers, const std::string& sha256, const AdapterRoom& room) {
  auto loaded = std::make_shared<LoadedAdapter>();
  loaded->sha256 = sha256;
  std::map<std::string, const LowRankProduct*> by_name;
  for (const AdaptedLayer& layer : layers) {
    by_name[layer.layer.name] = &layer.product;
    loaded->columns = std::max(loaded->columns, AdapterColumnsOf(layer.product.rank()));
  }
  for (size_t i = 0; i < room.layers().size(); ++i) {
    const auto own = by_name.find(room.layers()[i].name);
    if (own == by_name.end()) continue;
    REEL_ASSIGN_OR_RETURN(LoadedAdapter::Layer layer,
                          LoadLayer(*own->second, i, room.layers()[i], loaded->columns));
    layer.part = AdapterPartOfLayer(own->first);
    loaded->bytes += static_cast<int64_t>(layer.down.nbytes() + layer.up.nbytes());
    loaded->layers.push_back(std::move(layer));
  }
  return loaded;
}

int64_t RanksOf(const AppliedAdapters& adapters) {
  int64_t ranks = 0;
  for (const AppliedAdapter& applied : adapters) ranks += applied.adapter->columns;
  return ranks;
}

AppliedAdapters InNextPass(AppliedAdapters adapters) {
  for (AppliedAdapter& applied : adapters) {
    if (applied.later_scales.empty()) continue;
    applied.scale = applied.later_scales.front();
    applied.later_scales.erase(applied.later_scales.begin());
  }
  return adapters;
}

bool ChangeInNextPass(const AppliedAdapters& adapters) {
  return std::any_of(adapters.begin(), adapters.end(), [](const AppliedAdapter& applied) {
    return !applied.later_scales.empty() && applied.later_scales.front() != applied.scale;
  });
}

}  // namespace reel::model
