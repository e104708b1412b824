// SPDX-License-Identifier: Apache-2.0
// The models and kernels that this server can serve at the moment. A value.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "server/front/jobs/dispatcher.h"
#include "server/front/node/video_index.h"

namespace reel::front {

struct Means {
  int devices = 0;    // ready ones
  int idle = 0;       // of those, with nothing to do
  int in_groups = 0;  // those, each device of a group counted
  std::set<std::string> models;
  std::vector<WorkerInfo> workers;                                   // ready ones
  std::map<std::string, std::vector<kernels::KernelCall>> calls;     // of models
  std::map<std::string, std::vector<model::AdapterOffer>> adapters;  // of those that have any

  bool CanRun(const KnownVideo& video) const;

 private:
  // Of the same names and files.
  bool HasAdapters(const KnownVideo& video) const;
};

Means MeansOf(const Dispatcher& jobs);

}  // namespace reel::front
