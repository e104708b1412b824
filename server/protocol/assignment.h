// SPDX-License-Identifier: Apache-2.0
// A job as reeld gives it to a worker: the same value in the dispatcher, the pool, the link and the
// engine.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "model/generation_spec.h"

namespace reel {

// A job's name and attempt: every report of a job has both.
struct JobRef {
  std::string job;
  int attempt = 1;
  // The request's id, for logs; empty in messages from a worker.
  std::string trace_id = {};
};

struct Assignment {
  JobRef ref;
  model::GenerationSpec spec;  // resolved; condition bytes filled in
  double order_key = 0;        // lower runs first
  absl::Duration time_left = absl::InfiniteDuration();
  bool alone = false;            // never share a step
  int64_t state_size_bytes = 0;  // of the state that the spec's source names; 0: there is none
};

}  // namespace reel
