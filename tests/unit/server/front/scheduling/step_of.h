// SPDX-License-Identifier: Apache-2.0
// A step of one pass of one job, as its worker's report says.
#pragma once

#include "model/pass_work.h"
#include "server/front/scheduling/cost_model.h"
#include "server/front/scheduling/work_shape.h"

namespace reel::front {

inline SeenStep StepOf(const WorkShape& shape, const model::PassWork& pass) {
  return {.model = shape.model,
          .plan = shape.plan,
          .where = shape.where,
          .rows = pass.rows,
          .attention = pass.rows * pass.tokens,
          .condition_pixels = shape.condition_pixels};
}

}  // namespace reel::front
