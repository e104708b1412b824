// SPDX-License-Identifier: Apache-2.0
#include "model/registry.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/base/status_macros.h"
#include "model/families.h"
#include "model/testcard/test_card.h"
#include "model/weights/checkpoint.h"
#ifdef REEL_HAS_TORCH
#include "model/bridge/framework_facts.h"
#include "model/bridge/framework_variants.h"
#endif

namespace reel::model {

namespace {

// The family that reads the files at the path.
bool WantsAdapters(const LoadOptions& options) {
  return !options.adapters.empty() || options.adapter_ranks > 0;
}

absl::StatusOr<ModelFamily> FamilyOf(const LoadOptions& options) {
  const std::vector<ModelFamily> families = Families();
  if (families.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("This build has no libtorch, so it can load only the test card, which has no "
                     "path; model ",
                     options.name));
  }
  REEL_ASSIGN_OR_RETURN(const Checkpoint checkpoint, Examine(options.path));
  for (const ModelFamily& family : families) {
    if (!family.recognises(checkpoint)) continue;
    if (family.takes_adapters || !WantsAdapters(options)) return family;
    return absl::FailedPreconditionError(
        absl::StrCat("The family takes no adapters: ", family.name, ": ", options.path));
  }
  const auto add_name = [](std::string* out, const ModelFamily& family) { *out += family.name; };
  return absl::FailedPreconditionError(absl::StrCat(
      "No model family of this build recognises the checkpoint: ", options.path,
      checkpoint.file.has_value() ? ": its tensors are of another model"
                                  : ": its model_index.json names ",
      checkpoint.pipeline_class, "; this build reads ", absl::StrJoin(families, ", ", add_name)));
}

absl::StatusOr<std::unique_ptr<Pipeline>> TestCardOf(const LoadOptions& options,
                                                     std::shared_ptr<CountedMemory> memory) {
  if (WantsAdapters(options)) {
    return absl::FailedPreconditionError("the test card has no weights: give no adapters");
  }
  return MakeTestCard(options.name.empty() ? "testcard" : options.name, options.test_card,
                      std::move(memory));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Pipeline>> LoadPipeline(const LoadOptions& options,
                                                       kernels::DeviceStream stream,
                                                       std::shared_ptr<CountedMemory> memory) {
  if (options.path.empty()) return TestCardOf(options, std::move(memory));
  REEL_ASSIGN_OR_RETURN(const ModelFamily family, FamilyOf(options));
  return family.load(options, stream);
}

ModelCheck CheckModel(const LoadOptions& options, kernels::DeviceStream stream) {
  ModelCheck check;
  if (options.path.empty()) {
    LoadOptions quick = options;
    quick.test_card.load_time = absl::ZeroDuration();
    const auto card = TestCardOf(quick, nullptr);
    check.status = card.status();
    if (card.ok()) check.card = (*card)->card();
    return check;
  }
  const auto family = FamilyOf(options);
  if (!family.ok()) return {ModelCheck::Wrong::kPath, family.status(), {}};
  const auto card = family->check(options, stream);
  if (!card.ok()) return {ModelCheck::Wrong::kFiles, card.status(), {}};
  check.card = *card;
  return check;
}

MemoryReader MemoryReaderFor([[maybe_unused]] kernels::DeviceStream stream,
                             [[maybe_unused]] const std::vector<int>& peers) {
#ifdef REEL_HAS_TORCH
  std::vector<MemoryReader> readers = {TorchMemoryReader(stream)};
  if (readers[0] == nullptr || peers.empty()) return readers[0];
  for (const int peer : peers) readers.push_back(TorchMemoryReader({.device = peer}));
  return Fullest(std::move(readers));
#else
  return nullptr;
#endif
}

MemoryReturner MemoryReturnerFor([[maybe_unused]] kernels::DeviceStream stream) {
#ifdef REEL_HAS_TORCH
  return TorchMemoryReturner(stream);
#else
  return nullptr;
#endif
}

absl::Status LimitMemory([[maybe_unused]] kernels::DeviceStream stream,
                         [[maybe_unused]] const std::vector<int>& peers,
                         [[maybe_unused]] int64_t bytes) {
#ifdef REEL_HAS_TORCH
  REEL_RETURN_IF_ERROR(LimitTorchMemory(stream, bytes));
  for (const int peer : peers) REEL_RETURN_IF_ERROR(LimitTorchMemory({.device = peer}, bytes));
#endif
  return absl::OkStatus();
}

DeviceProbe DeviceProbeFor([[maybe_unused]] kernels::DeviceStream stream,
                           [[maybe_unused]] const std::vector<int>& peers) {
#ifdef REEL_HAS_TORCH
  std::vector<DeviceProbe> probes = {TorchDeviceProbe(stream)};
  if (probes[0] == nullptr || peers.empty()) return probes[0];
  for (const int peer : peers) probes.push_back(TorchDeviceProbe({.device = peer}));
  return EachOf(std::move(probes));
#else
  return nullptr;
#endif
}

std::map<std::string, std::string> FrameworkVersions() {
#ifdef REEL_HAS_TORCH
  return {{"torch", FrameworkVersion()}};
#else
  return {};
#endif
}

void AddModelVariants([[maybe_unused]] kernels::KernelCatalog& catalog) {
#ifdef REEL_HAS_TORCH
  AddFrameworkVariants(catalog);
#endif
}

}  // namespace reel::model
