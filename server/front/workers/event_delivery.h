// SPDX-License-Identifier: Apache-2.0
// What a worker says of its jobs, as calls of WorkerEvents.
#pragma once

#include <string>

#include "reel/worker/v1/worker.pb.h"
#include "server/front/workers/worker_pool.h"

namespace reel::front {

// Messages that do not concern jobs are ignored: the slot has taken what it needs of them.
void DeliverJobEvent(const std::string& worker, worker::v1::AttachRequest message,
                     WorkerEvents& events);

}  // namespace reel::front
