// SPDX-License-Identifier: Apache-2.0
// Salvage of a damaged file that has a log and its view.
#pragma once

#include "server/front/store/sqlite.h"

namespace reel::front::view_tables {

// Of a video whose record is lost its messages and its request id go as well, so that both are free
// again.
SalvagePlan PlanOfLog();

}  // namespace reel::front::view_tables
