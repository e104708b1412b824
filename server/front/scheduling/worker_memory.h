// SPDX-License-Identifier: Apache-2.0
// Accounts of a worker's device memory: what is given to whom and what would still fit, by
// predictions, since a device's own figures come too late. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "model/model_card.h"
#include "server/front/scheduling/fleet_worker.h"

namespace reel::front {

// Note: [Memory]
// A worker's device memory is given out by predictions. Counted are the weights of its models,
// those on their way included, and the peak of each job that it holds, parked ones too. A twentieth
// is nobody's, and what others hold beyond that is not there. A job that does not fit waits, and
// nobody behind it in the order takes what becomes free there; one for which others are parked has
// them leave the device. What could not be held with nobody else there is refused.
//
// A peak is what was seen of this model, plan, kind of device and bucket of sizes: up at once and
// down by and by. Before that it is the formula of the model's card. An out of memory raises it:
// beside others by a quarter, alone beyond all that there was. A worker without an account (a CPU
// whose memory_bytes are not set) takes everything.

// Of a device's memory this part is nobody's: contexts, pieces too small for anybody, errors of
// predictions.
inline constexpr double kMemoryMargin = 0.05;

// Bytes.
struct MemoryAccount {
  int64_t usable = 0;   // all but the margin; 0: no account is kept, and everything fits
  int64_t outside = 0;  // of the usable part what others took: processes, contexts
  int64_t weights = 0;  // of models that are there or on their way
  int64_t jobs = 0;     // at their fullest, those that are parked included: they come back

  int64_t left() const { return usable - outside - weights - jobs; }
};

// What a job would need, and the most that it could have. Its model's weights are in both.
struct MemoryNeed {
  int64_t needed = 0, there = 0;
};

using Cards = std::map<std::string, model::ModelCard>;

// 0: not known.
int64_t WeightsOf(const std::string& model, const Cards& cards);
MemoryAccount AccountOf(const FleetWorker& worker, const Cards& cards);
// Whether the worker has the memory for the job now, if it parked these.
bool Fits(const FleetWorker& worker, const Need& need, const Cards& cards,
          const JobIds& parked = {});
// As if nobody else were there; nullopt: no account is kept.
std::optional<MemoryNeed> NeedAlone(const FleetWorker& worker, const Need& need,
                                    const Cards& cards);

}  // namespace reel::front
