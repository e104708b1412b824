// SPDX-License-Identifier: Apache-2.0
// A recorder for tests without a device's graphs.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "model/bridge/device_graph.h"
#include "model/bridge/torch_guard.h"

namespace reel::model {

// Replays by running once more what it recorded: over the memory that the graph has, as a device
// does.
class RerunGraph final : public DeviceGraph {
 public:
  RerunGraph(std::function<void(kernels::DeviceStream)> body, kernels::DeviceStream stream,
             int& replays)
      : body_(std::move(body)), stream_(stream), replays_(replays) {}
  void Replay() override {
    ++replays_;
    body_(stream_);
  }

 private:
  const std::function<void(kernels::DeviceStream)> body_;
  const kernels::DeviceStream stream_;
  int& replays_;
};

struct RecordCounts {
  int recorded = 0, replays = 0;
  bool fails = false;
  bool exchanges = false;  // what is recorded, with who does it once: it is not run to be recorded
};

class RerunRecorder final : public GraphRecorder {
 public:
  RerunRecorder(kernels::DeviceStream stream, RecordCounts& counts)
      : stream_(stream), counts_(counts) {}
  std::unique_ptr<DeviceGraph> Record(std::function<void(kernels::DeviceStream)> body) override {
    ++counts_.recorded;
    if (!counts_.exchanges) body(stream_);
    if (counts_.fails) ThrowIfError(absl::InternalError("cannot be recorded"));
    return std::make_unique<RerunGraph>(std::move(body), stream_, counts_.replays);
  }

 private:
  const kernels::DeviceStream stream_;
  RecordCounts& counts_;
};

}  // namespace reel::model
