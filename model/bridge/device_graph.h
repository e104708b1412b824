// SPDX-License-Identifier: Apache-2.0
// A recorded sequence of device work that one call replays: launching a small step's kernels takes
// longer than running them.
#pragma once

#include <functional>
#include <memory>

#include "kernels/dispatch/execution.h"
#include "model/bridge/aten.h"

namespace reel::model {

// Over the memory that it was recorded with. Confined to one thread; throws what libtorch throws.
class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;
  // Asks for it again, behind what libtorch's current stream has to do.
  virtual void Replay() = 0;
};

class GraphRecorder {
 public:
  virtual ~GraphRecorder() = default;
  // `body` runs and nothing of what it asks of the device is done; its own kernels launch on the
  // stream that it is given. What it allocates belongs to the graph, and graphs of one recorder
  // share that memory. A tensor that is kept stays whole; any graph may write to the rest. `body`
  // stays valid as long as the graph. Throws what `body` throws, and for what cannot be recorded.
  virtual std::unique_ptr<DeviceGraph> Record(
      std::function<void(kernels::DeviceStream stream)> body) = 0;
};

// Null where there is nothing to record with: on a CPU, and where libreel_torch_cuda.so does not
// lie beside the library of kernels that the process has opened.
std::unique_ptr<GraphRecorder> MakeGraphRecorder(at::Device device);

}  // namespace reel::model
