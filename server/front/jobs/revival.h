// SPDX-License-Identifier: Apache-2.0
// A job that was admitted elsewhere, or by an earlier process, as this one knows its own.
#pragma once

#include <cstdint>
#include <string>

#include "server/front/jobs/active_job.h"
#include "server/front/jobs/admission.h"
#include "server/front/jobs/byte_quota.h"
#include "server/front/jobs/clock.h"
#include "server/front/jobs/cost_model.h"
#include "server/front/jobs/fleet.h"
#include "server/front/jobs/job_options.h"
#include "server/front/store/media_store.h"

namespace reel::front {

// Confined to one thread.
class Revival {
 public:
  // What it works with; all of it outlives it.
  struct Parts {
    const Admission& admission;
    const Fleet& fleet;
    const CostModel& costs;
    const ByteQuota& bytes;
    const MediaStore& media;
    const JobOptions& options;
    const Clock& clock;
  };
  explicit Revival(const Parts& parts) : parts_(parts) {}

  // Queued, with what is left of its time. `condition_bytes`: of the files that came with it.
  ActiveJob Revive(JobRow row, const Video& video, int64_t condition_bytes) const;

 private:
  // Of the first worker that could run it; empty: there is none.
  std::string WhereOf(const Need& need) const;
  void Reserve(ActiveJob& job, const model::GenerationSpec& spec) const;

  const Parts parts_;
};

}  // namespace reel::front
