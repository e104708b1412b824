// SPDX-License-Identifier: Apache-2.0
#include "model/adapters/add_adapters.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "kernels/base/digest/sha256.h"
#include "kernels/base/status_macros.h"
#include "model/adapters/adapter_error.h"
#include "model/adapters/open_adapter.h"

namespace reel::model {
namespace {

constexpr char kWeight[] = ".weight";

using Products = std::map<std::string, std::vector<LowRankProduct>>;  // by the weight's name

absl::Status CheckOptions(const LoadOptions& options) {
  if (options.random_weights.has_value() && !options.adapters.empty()) {
    return absl::FailedPreconditionError("random weights read no files: give no adapters");
  }
  if (options.adapters.size() > kMostFixedAdapters) {
    return absl::FailedPreconditionError(absl::StrCat("a model takes at most ", kMostFixedAdapters,
                                                      " adapters, not ", options.adapters.size()));
  }
  std::set<std::string> files;
  for (const FixedAdapter& adapter : options.adapters) {
    if (!(std::abs(adapter.scale) <= kMostAdapterScale)) {
      return AdapterError(adapter.path, "",
                          absl::StrCat("its scale is ", adapter.scale, ", not ", -kMostAdapterScale,
                                       " to ", kMostAdapterScale));
    }
    std::error_code ignored;
    const auto own = std::filesystem::weakly_canonical(adapter.path, ignored);
    if (!files.insert(own.string()).second) {
      return AdapterError(adapter.path, "", "the file is given twice");
    }
  }
  return absl::OkStatus();
}

// The linear layers of all parts: their weights are the only matrices of that name.
absl::StatusOr<LinearTable> TableOf(absl::Span<const AdaptedPart> parts) {
  std::vector<LinearLayer> layers;
  for (const AdaptedPart& part : parts) {
    for (const auto& [name, tensor] : part.weights->tensors()) {
      const std::vector<int64_t>& shape = tensor.entry->shape;
      absl::string_view layer = name;
      if (shape.size() != 2 || !absl::ConsumeSuffix(&layer, kWeight)) continue;
      layers.push_back({absl::StrCat(part.prefix, layer), shape[0], shape[1]});
    }
  }
  return LinearTable::Of(layers);
}

// Adds what one file has for each part to `products`, which are by part.
absl::StatusOr<FixedAdapter> AddFile(const FixedAdapter& wanted, AdapterFamily family,
                                     const LinearTable& table, absl::Span<const AdaptedPart> parts,
                                     std::vector<Products>& products) {
  REEL_ASSIGN_OR_RETURN(const OpenedAdapter opened,
                        OpenAdapter(wanted.path, wanted.sha256, family, table));
  if (opened.wants_reference) {
    return AdapterError(wanted.path, "",
                        "it wants a reference clip in each request, so it cannot be a fixed "
                        "adapter; give the model adapter_ranks, and name it in requests");
  }
  for (const AdaptedLayer& adapted : opened.layers) {
    LowRankProduct product = adapted.product;
    product.scale *= wanted.scale;
    // The longest prefix is the last one's: that of the transformer is empty.
    for (size_t part = parts.size(); part-- > 0;) {
      absl::string_view layer = adapted.layer.name;
      if (!absl::ConsumePrefix(&layer, parts[part].prefix)) continue;
      products[part][absl::StrCat(layer, kWeight)].push_back(std::move(product));
      break;
    }
  }
  return FixedAdapter{.name = wanted.name,
                      .scale = wanted.scale,
                      .sha256 = opened.sha256,
                      .idle_layers = opened.idle_layers};
}

}  // namespace

absl::StatusOr<std::vector<FixedAdapter>> AddAdapters(const LoadOptions& options,
                                                      AdapterFamily family,
                                                      absl::Span<const AdaptedPart> parts) {
  if (options.adapters.empty()) return std::vector<FixedAdapter>();
  REEL_RETURN_IF_ERROR(CheckOptions(options));
  REEL_ASSIGN_OR_RETURN(const LinearTable table, TableOf(parts));
  std::vector<FixedAdapter> adapters = options.adapters;
  std::erase_if(adapters, [](const FixedAdapter& adapter) { return adapter.scale == 0; });
  std::sort(adapters.begin(), adapters.end(), [](const FixedAdapter& a, const FixedAdapter& b) {
    return std::tie(a.name, a.path) < std::tie(b.name, b.path);
  });
  std::vector<Products> products(parts.size());
  for (FixedAdapter& adapter : adapters) {
    REEL_ASSIGN_OR_RETURN(adapter, AddFile(adapter, family, table, parts, products));
  }
  for (size_t part = 0; part < parts.size(); ++part) {
    *parts[part].weights = parts[part].weights->WithAdded(products[part]);
  }
  return adapters;
}

std::string SumWithAdapters(const std::string& files, absl::Span<const FixedAdapter> adapters) {
  if (files.empty() || adapters.empty()) return files;
  Sha256 all;
  all.Update(files);
  for (const FixedAdapter& adapter : adapters) {
    all.Update(absl::StrFormat("\n%s  %.17g", adapter.sha256, adapter.scale));
  }
  return all.Hex();
}

}  // namespace reel::model
