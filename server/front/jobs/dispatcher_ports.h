// SPDX-License-Identifier: Apache-2.0
// The stores, workers, metrics and clock that the dispatcher works with.
#pragma once

#include "server/front/jobs/clock.h"
#include "server/front/jobs/job_observer.h"
#include "server/front/jobs/video_serializer.h"
#include "server/front/store/job_store.h"
#include "server/front/store/media_store.h"
#include "server/front/workers/worker_pool.h"

namespace reel::front {

// They outlive the dispatcher.
struct DispatcherPorts {
  JobStore& store;
  MediaStore& media;
  WorkerPool& pool;
  JobObserver& observer;
  const Clock& clock;
  const VideoSerializer& serializer;
};

}  // namespace reel::front
