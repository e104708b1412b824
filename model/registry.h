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

// Loads a model for the device of `stream`: the test card where there is no path, else by the first
// family that recognises what lies there. Blocks for as long as that takes. FAILED_PRECONDITION
// says what the path holds instead; the families document their own errors.
// `memory` is what the test card takes of, where there is one; its weights are the caller's to
// count.
absl::StatusOr<std::unique_ptr<Pipeline>> LoadPipeline(
    const LoadOptions& options, kernels::DeviceStream stream,
    std::shared_ptr<CountedMemory> memory = nullptr);

// What a load of a model would find, in its words.
struct ModelCheck {
  enum class Wrong { kNothing, kPath, kFiles };
  Wrong wrong = Wrong::kNothing;  // kPath: no model that this build reads is there
  absl::Status status;
  ModelCard card;  // where nothing is wrong
};

// Without the values of the weights: it takes as long as their headers do, or a manifest, which is
// compared as a load does.
ModelCheck CheckModel(const LoadOptions& options, kernels::DeviceStream stream);

// How the memory of that device is read; null where there is none to read, as on a CPU. Of a group
// each figure is that of the device where it is greatest.
MemoryReader MemoryReaderFor(kernels::DeviceStream stream, const std::vector<int>& peers = {});

// How what this process's allocator keeps there is given back; null where nothing is kept.
MemoryReturner MemoryReturnerFor(kernels::DeviceStream stream);

// How to see that the device is not lost, after an error that does not say, nor any of a group's;
// null for a CPU.
DeviceProbe DeviceProbeFor(kernels::DeviceStream stream, const std::vector<int>& peers = {});

// Versions of what models run on, by name: "torch" where this build has it.
std::map<std::string, std::string> FrameworkVersions();

// The variants of operators that the families of this build bring along, beside the built-in ones.
void AddModelVariants(kernels::KernelCatalog& catalog);

}  // namespace reel::model
