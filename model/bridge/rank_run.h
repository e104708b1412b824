// SPDX-License-Identifier: Apache-2.0
// Operators on every rank of a group at once.
#pragma once

#include <functional>

#include "model/bridge/ops.h"
#include "model/bridge/rank_crew.h"

namespace reel::model {

// As RankCrew::Run, each rank by operators on its own device and by the plan of `ops`, which are
// the first rank's. The calls of all are counted; timed are those of the first alone, which stand
// for the others.
void RunOnRanks(RankCrew& crew, const Ops& ops,
                const std::function<void(int rank, const Ops& ops)>& work);

}  // namespace reel::model
