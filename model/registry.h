// SPDX-License-Identifier: Apache-2.0
// Loads a model by name and path. The families are one list, in model/CMakeLists.txt.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_catalog.h"
#include "model/counted_memory.h"
#include "model/device_memory.h"
#include "model/load_options.h"
#include "model/model_card.h"
#include "model/pipeline.h"

namespace reel::model {

// Loads a model for the device of `stream`: the test card without a path, otherwise by the first
// family that recognises the files there. Blocks meanwhile. FAILED_PRECONDITION says what the path
// holds instead; the families document their own errors. The test card charges `memory`, if given;
// the caller charges its weights.
absl::StatusOr<std::unique_ptr<Pipeline>> LoadPipeline(
    const LoadOptions& options, kernels::DeviceStream stream,
    std::shared_ptr<CountedMemory> memory = nullptr);

// What a load of a model would report.
struct ModelCheck {
  enum class Wrong { kNothing, kPath, kFiles };
  Wrong wrong = Wrong::kNothing;  // kPath: there is no model that this build reads
  absl::Status status;
  ModelCard card;  // if it can be loaded
};

// Does not read the values of weights: it takes as long as reading headers, or a manifest, whose
// sums are compared as in a load.
ModelCheck CheckModel(const LoadOptions& options, kernels::DeviceStream stream);

// Reads that device's memory; null if there is none to read, as on a CPU. For a group each figure
// is the greatest of any device.
MemoryReader MemoryReaderFor(kernels::DeviceStream stream, const std::vector<int>& peers = {});

// Frees what this process's allocator caches there; null if it caches nothing.
MemoryReturner MemoryReturnerFor(kernels::DeviceStream stream);

// Bounds what this process's tensors take of the device, or of each of a group, to so many bytes.
// Beyond that is RESOURCE_EXHAUSTED. Nothing is bounded on a CPU. FAILED_PRECONDITION: this build
// cannot.
absl::Status LimitMemory(kernels::DeviceStream stream, const std::vector<int>& peers,
                         int64_t bytes);

// Tests that the device, or each of a group, is not lost, after an error that does not say so; null
// for a CPU.
DeviceProbe DeviceProbeFor(kernels::DeviceStream stream, const std::vector<int>& peers = {});

// Versions of the libraries that models run on, by name: "torch" if this build has it.
std::map<std::string, std::string> FrameworkVersions();

// The operator variants that this build's families add to the built-in ones.
void AddModelVariants(kernels::KernelCatalog& catalog);

}  // namespace reel::model
