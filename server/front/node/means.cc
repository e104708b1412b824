// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/means.h"

#include <algorithm>

#include "kernels/dispatch/kernel_catalog.h"
#include "kernels/dispatch/kernel_profiles.h"
#include "server/front/scheduling/planned_worker.h"

namespace reel::front {
namespace {

// Configured profiles add variants to a built-in one; a request's own variants come first in both.
std::string_view BuiltIn(const std::string& profile) {
  const std::vector<std::string>& known = kernels::BuiltInProfiles();
  const bool is_one = std::find(known.begin(), known.end(), profile) != known.end();
  return is_one ? std::string_view(profile) : std::string_view("auto");
}

}  // namespace

bool Means::HasAdapters(const KnownVideo& video) const {
  const auto own = adapters.find(video.model);
  return std::all_of(
      video.adapters.begin(), video.adapters.end(), [&](const model::RequestAdapter& wanted) {
        return own != adapters.end() && std::any_of(own->second.begin(), own->second.end(),
                                                    [&](const model::AdapterOffer& offer) {
                                                      return offer.name == wanted.name &&
                                                             offer.sha256 == wanted.sha256;
                                                    });
      });
}

bool Means::CanRun(const KnownVideo& video) const {
  if (!models.contains(video.model)) return false;
  if (!HasAdapters(video)) return false;
  const auto of_model = calls.find(video.model);
  return std::any_of(workers.begin(), workers.end(), [&](const WorkerInfo& worker) {
    if (!video.worker.empty() && video.worker != worker.name) return false;
    if (video.kernels.variants.empty()) return true;
    return kernels::MakePlan(
               worker.kernels, BuiltIn(video.kernels.profile), video.kernels.variants,
               of_model == calls.end() ? std::vector<kernels::KernelCall>() : of_model->second)
        .ok();
  });
}

Means MeansOf(const Dispatcher& jobs) {
  Means means;
  for (const WorkerInfo& worker : jobs.Workers()) {
    if (worker.state != WorkerState::kReady) continue;
    ++means.devices;
    means.in_groups += NumDevices(worker);
    means.idle += jobs.Running(worker.name) == 0 ? 1 : 0;
    means.workers.push_back(worker);
  }
  if (means.devices == 0) return means;
  for (const ServedModel& model : jobs.Models()) {
    // A model on demand is loaded for its first video.
    if (!model.ready && model.state != ModelState::kOnDemand) continue;
    means.models.insert(model.card.name);
    means.calls[model.card.name] = model.card.calls;
    if (!model.card.adapters.empty()) means.adapters[model.card.name] = model.card.adapters;
  }
  return means;
}

}  // namespace reel::front
