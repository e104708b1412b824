// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/model/bridge/test_run.h"

#include <map>
#include <string>

#include "kernels/dispatch/kernel_listing.h"
#include "model/bridge/framework_variants.h"

namespace reel::model {
namespace {

// But for attention, which kernels/ has no fast one of here.
bool IsLibtorchs(const std::string& variant) {
  return variant == kAtenVariant || variant == kRowsVariant || variant == kEpilogueVariant;
}

// On a GPU "auto" takes the kernels by itself; on a CPU they must be asked for.
kernels::KernelPlan PlanOf(PlanSource source) {
  const kernels::KernelCatalog& catalog = DeviceUnderTest()->catalog;
  if (source == PlanSource::kLibtorch) return *catalog.Plan("reference", {});
  std::map<std::string, std::string> variants;
  if (catalog.capability().device < 0) {
    for (const kernels::OpListing& op : catalog.List()) {
      if (op.op == "linear" || op.op == "conv3d") continue;  // the slow oracle is all they have
      for (const kernels::VariantListing& variant : op.variants) {
        if (variant.runs && !IsLibtorchs(variant.name)) variants.try_emplace(op.op, variant.name);
      }
    }
  }
  return *catalog.Plan("auto", variants);
}

}  // namespace

TestRun::TestRun(PlanSource source)
    : plan(PlanOf(source)), run{plan, counters, nullptr, DeviceUnderTest()->stream} {}

}  // namespace reel::model
