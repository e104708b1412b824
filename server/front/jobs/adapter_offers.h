// SPDX-License-Identifier: Apache-2.0
// The adapters that requests may name, in the cards of the models that they are for.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/dispatch/kernel_plan.h"
#include "model/model_card.h"
#include "server/front/scheduling/fleet_worker.h"
#include "server/front/scheduling/job_options.h"

namespace reel::front {

// A value.
class AdapterOffers {
 public:
  explicit AdapterOffers(std::vector<RegisteredAdapter> registered)
      : registered_(std::move(registered)) {}

  // Those that are for the model, if it has room for any, in place of what the card has.
  void PutInto(model::ModelCard& card) const;

 private:
  std::vector<RegisteredAdapter> registered_;
};

// Where this server has the adapters of a resolved spec. `card` is that of its model; null: it is
// not known. MODEL_REPLACED: one is gone, or another file now.
absl::Status FindAdapters(const model::ModelCard* card, model::GenerationSpec& spec);

// Kernels of devices that other servers of a fleet have: what a request that names some is judged
// by where no device of this server can run it.
// Confined to the dispatcher's thread.
class KernelsElsewhere {
 public:
  // By model, the list of each kind of device.
  using Lists = std::map<std::string, std::vector<std::vector<kernels::OpListing>>>;
  void Set(Lists lists) { lists_ = std::move(lists); }

  // Of each kind the plan that the job would run by, or why it could not; none of a job that names
  // its worker. `card`: the model's; null: not known.
  std::vector<absl::StatusOr<kernels::KernelPlan>> Plans(const Need& need,
                                                         const model::ModelCard* card) const;

 private:
  Lists lists_;
};

}  // namespace reel::front
