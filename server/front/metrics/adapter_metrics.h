// SPDX-License-Identifier: Apache-2.0
// Series of adapters (LoRA) that workers bring to their devices for requests.
#pragma once

#include <string>

#include "model/pipeline.h"
#include "server/front/metrics/families.h"

namespace reel::front {

// Thread-safe.
class AdapterMetrics {
 public:
  AdapterMetrics(prometheus::Registry& registry, prometheus::Family<prometheus::Counter>& dropped);

  void Uploaded(const std::string& model, const model::AdapterCounts& adapters);

 private:
  CappedFamily<prometheus::Counter> uploads_;
  prometheus::Histogram& seconds_;
};

}  // namespace reel::front
