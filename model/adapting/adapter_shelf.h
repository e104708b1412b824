// SPDX-License-Identifier: Apache-2.0
// The adapters that requests of one model ask for: read when they are asked for first, and kept.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "model/adapters/adapter_family.h"
#include "model/adapters/linear_table.h"
#include "model/adapting/adapter_columns.h"
#include "model/adapting/loaded_adapter.h"
#include "model/generation_spec.h"
#include "model/layers/fitted_load.h"
#include "model/load_options.h"
#include "model/pipeline.h"
#include "model/request_adapter.h"

namespace reel::model {

// Room for `options.adapter_ranks` columns; null: there is none. FAILED_PRECONDITION: the number is
// not allowed, or the work of a video is shared between devices.
absl::StatusOr<std::unique_ptr<AdapterRoom>> AdapterRoomOf(const LoadOptions& options);
// Has columns stored behind the weights of a model in 16 bits that is on a GPU with all its blocks.
// There an adapter is a few columns more of each product.
void StandBehindWeights(AdapterRoom* room, at::Device device, at::ScalarType dtype,
                        const FittedLoad& held);

// Confined to the engine thread.
class AdapterShelf {
 public:
  static constexpr int64_t kMostBytes = int64_t{1} << 30;  // that no job holds

  // Null without room. FAILED_PRECONDITION: two of its layers have one name.
  static absl::StatusOr<std::unique_ptr<AdapterShelf>> Of(std::unique_ptr<AdapterRoom> room,
                                                          AdapterFamily family);

  // Those of a request, in order of names, without those of scale 0. A file that was read with the
  // same sum is not read again. FAILED_PRECONDITION: a file cannot be used, by the adapter's name,
  // marked (adapter_fault.h); or they need more columns together than there are.
  absl::StatusOr<AppliedAdapters> Take(std::vector<RequestAdapter> wanted);

  AdapterColumns& columns() { return columns_; }
  // What is held for requests, on the device; without the columns.
  int64_t kept_bytes() const;
  // Since this was asked last.
  AdapterCounts TakeCounts() { return std::exchange(counts_, {}); }
  // Drops what no job holds.
  void Forget();

 private:
  using Loaded = std::shared_ptr<const LoadedAdapter>;

  AdapterShelf(AdapterRoom room, AdapterFamily family, LinearTable table)
      : columns_(std::move(room)), family_(family), table_(std::move(table)) {}

  absl::StatusOr<Loaded> Find(const RequestAdapter& wanted);
  absl::StatusOr<Loaded> Read(const RequestAdapter& wanted) const;
  // Read(), and counts it.
  absl::StatusOr<Loaded> Upload(const RequestAdapter& wanted);
  // Drops those that were used longest ago and that no job holds, beyond kMostBytes.
  void Tidy();

  AdapterColumns columns_;
  const AdapterFamily family_;
  const LinearTable table_;
  std::list<Loaded> kept_;  // latest first
  AdapterCounts counts_;
};

// Those of a request for a model that may have no shelf. FAILED_PRECONDITION as above, or: the
// model takes none.
absl::StatusOr<AppliedAdapters> TakeAdapters(AdapterShelf* shelf, const GenerationSpec& spec);
// The scales of one request's adapters, placed (AdapterColumns::Place): undefined if it has none.
at::Tensor PlaceAdapters(AdapterShelf* shelf, const AppliedAdapters& adapters);

}  // namespace reel::model
