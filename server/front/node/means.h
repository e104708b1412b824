// SPDX-License-Identifier: Apache-2.0
// The models and kernels that this server can serve at the moment.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/mutex.h"
#include "server/front/jobs/dispatcher.h"
#include "server/front/node/video_index.h"

namespace reel::front {

struct Means {
  int devices = 0;    // ready ones
  int idle = 0;       // idle ones of those
  int in_groups = 0;  // ready ones, counting each device of a group
  std::set<std::string> models;
  std::vector<WorkerInfo> workers;                                   // ready ones
  std::map<std::string, std::vector<kernels::KernelCall>> calls;     // of models
  std::map<std::string, std::vector<model::AdapterOffer>> adapters;  // of models that have any

  bool CanRun(const KnownVideo& video) const;

 private:
  // Whether all of the video's adapters are here, with the same files.
  bool HasAdapters(const KnownVideo& video) const;
};

Means MeansOf(const Dispatcher& jobs);

// The fleet's models as a server without devices knows them.
// Thread-safe.
class ReadyModels {
 public:
  // `names`: models that some server has a device for. `complete`: the descriptions of all live
  // servers' models are known, so any other name is served by nobody.
  void Set(std::set<std::string> names, bool complete) {
    const MutexLock lock(mutex_);
    names_ = std::move(names);
    complete_ = complete;
  }
  bool Has(const std::string& name) const {
    const MutexLock lock(mutex_);
    return names_.contains(name);
  }
  bool complete() const {
    const MutexLock lock(mutex_);
    return complete_;
  }

 private:
  mutable Mutex mutex_;
  std::set<std::string> names_ ABSL_GUARDED_BY(mutex_);
  bool complete_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace reel::front
