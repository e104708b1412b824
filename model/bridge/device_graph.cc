// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/device_graph.h"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>

#include "model/bridge/cuda/graph_recorder.h"

namespace reel::model {
namespace {

constexpr char kKernels[] = "libreel_cuda.so";
constexpr char kGraphs[] = "libreel_torch_cuda.so";

// Never closed: its code may be on a device.
void* OpenBesideKernels() {
  void* const kernels = dlopen(kKernels, RTLD_LAZY | RTLD_NOLOAD);
  if (kernels == nullptr) return nullptr;
  link_map* entry = nullptr;
  const bool found = dlinfo(kernels, RTLD_DI_LINKMAP, &entry) == 0;
  const auto path = found ? std::filesystem::path(entry->l_name).parent_path() / kGraphs
                          : std::filesystem::path();
  dlclose(kernels);  // what RTLD_NOLOAD has counted
  return found ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
}

}  // namespace

std::unique_ptr<GraphRecorder> MakeGraphRecorder(at::Device device) {
  if (!device.is_cuda()) return nullptr;
  void* const library = OpenBesideKernels();
  if (library == nullptr) return nullptr;
  const auto entry = reinterpret_cast<GraphRecorderEntry>(dlsym(library, kGraphRecorderEntry));
  return std::unique_ptr<GraphRecorder>(entry == nullptr ? nullptr : entry(device.index()));
}

}  // namespace reel::model
