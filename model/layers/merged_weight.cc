// SPDX-License-Identifier: Apache-2.0
#include "model/layers/merged_weight.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/layers/stored_values.h"

namespace reel::model {
namespace {

// Both matrices on the device, in fp32.
struct Product {
  at::Tensor down, up;
  double scale = 1;
};

absl::StatusOr<std::vector<Product>> ProductsOf(const StoredTensor& stored, at::Device device) {
  std::vector<Product> products;
  for (const LowRankProduct& added : stored.added) {
    Product product;
    product.scale = added.scale;
    REEL_ASSIGN_OR_RETURN(product.down, ReadMatrix(added, *added.down, device));
    REEL_ASSIGN_OR_RETURN(product.up, ReadMatrix(added, *added.up, device));
    products.push_back(product);
  }
  return products;
}

// The sum of all products, rows [first, end).
at::Tensor SumOfRows(const std::vector<Product>& products, int64_t first, int64_t end) {
  at::Tensor sum;
  for (const Product& product : products) {
    const at::Tensor one = product.up.slice(0, first, end).mm(product.down).mul_(product.scale);
    sum = sum.defined() ? sum.add_(one) : one;
  }
  return sum;
}

}  // namespace

absl::StatusOr<at::Tensor> ReadMatrix(const LowRankProduct& product, const TensorEntry& entry,
                                      at::Device device) {
  const StoredTensor stored = {product.file, &entry};
  REEL_ASSIGN_OR_RETURN(const at::Tensor matrix,
                        ReadStored(stored, at::TensorOptions(device).dtype(at::kFloat)));
  return matrix.view({entry.shape[0], entry.shape[1]});
}

absl::StatusOr<at::Tensor> ReadMerged(const StoredTensor& stored, const at::TensorOptions& held) {
  const int64_t rows = stored.entry->shape[0], width = stored.entry->shape[1];
  REEL_ASSIGN_OR_RETURN(const std::vector<Product> products, ProductsOf(stored, held.device()));
  const at::Tensor merged = at::empty({rows, width}, held);
  const int64_t at_once =
      std::clamp<int64_t>(kReadAtOnce / std::max<int64_t>(width, 1), 1, std::max<int64_t>(rows, 1));
  const at::Tensor piece = at::empty({at_once, width}, at::TensorOptions(ValueTypeOf(stored)));
  for (int64_t first = 0; first < rows; first += at_once) {
    const int64_t end = std::min(first + at_once, rows);
    const at::Tensor own = piece.slice(0, 0, end - first);
    REEL_RETURN_IF_ERROR(CopyValues(stored, first * width, own));
    const at::Tensor wide = own.to(held.device()).to(at::kFloat);
    const at::Tensor sum = SumOfRows(products, first, end).add_(wide);
    const at::Tensor part = merged.slice(0, first, end);
    part.copy_(sum);
    if (at::isfinite(part).all().item<bool>()) continue;
    return absl::DataLossError(absl::StrCat("the weight with its adapters is not finite: ",
                                            stored.file->path(), ": ", stored.entry->name));
  }
  stored.file->DropPages(*stored.entry);
  return merged;
}

}  // namespace reel::model
