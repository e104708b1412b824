// SPDX-License-Identifier: Apache-2.0
// reel-render: a pipeline without a server.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/open_device.h"
#include "model/bundled_model.h"
#include "model/registry.h"
#include "server/render/adapter_flag.h"
#include "server/render/check_model.h"
#include "server/render/condition_files.h"
#include "server/render/console.h"
#include "server/render/render_exact.h"
#include "server/render/render_options.h"
#include "server/render/render_video.h"
#include "server/render/state_files.h"

namespace {

// As a worker names it: "cuda:0+cuda:1 NVIDIA H200".
std::string DeviceText(const reel::kernels::OpenedDevice& opened) {
  const auto place = [](int rank) { return rank < 0 ? "cpu" : absl::StrCat("cuda:", rank); };
  std::string text = place(opened.stream.device);
  for (const int peer : opened.peers) absl::StrAppend(&text, "+", place(peer));
  return opened.facts.name.empty() ? text : absl::StrCat(text, " ", opened.facts.name);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace reel;
  int exit_code = render::kSuccess;
  auto options = render::ParseRenderOptions(std::vector<std::string>(argv + 1, argv + argc),
                                            model::BundledModelsFolder(), exit_code);
  if (!options) return exit_code;
  render::Console console(isatty(STDERR_FILENO) == 1);
  auto opened = kernels::OpenDevice(options->device, kernels::CudaLibraryPath());
  if (!opened.ok()) {
    console.Error("--device: " + std::string(opened.status().message()));
    return absl::IsInvalidArgument(opened.status()) ? render::kUsage : render::kFailed;
  }
  kernels::KernelCatalog& catalog = opened->catalog;
  options->peers = opened->peers;
  options->device = DeviceText(*opened);
  if (options->device_memory > 0) {
    if (const absl::Status limited =
            model::LimitMemory(opened->stream, opened->peers, options->device_memory);
        !limited.ok()) {
      console.Error("--device-memory: " + std::string(limited.message()));
      return render::kFailed;
    }
  } else {
    options->device_memory = opened->facts.memory_bytes;
  }
  options->computes_in_bf16 = catalog.capability().ComputesInBf16();
  model::AddModelVariants(catalog);
  if (options->check) {
    return render::CheckAndPrint(*options,
                                 {.device = catalog.capability().device, .handle = nullptr});
  }
  absl::Status read = render::ReadConditionFiles(*options);
  if (read.ok()) read = render::ReadSourceFile(*options);
  if (!read.ok()) {
    console.Error(std::string(read.message()));
    return render::kInvalid;
  }
  render::ReadReferenceScales(options->spec.adapters);
  const auto render = options->exact ? &render::RenderExact : &render::RenderVideo;
  exit_code = render(*options, catalog, console);
  // Only the path, for scripts.
  if (exit_code == render::kSuccess) std::printf("%s\n", options->output.c_str());
  return exit_code;
}
