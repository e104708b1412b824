// SPDX-License-Identifier: Apache-2.0
#include "kernels/torch_ops/aten_variant.h"

#include <memory>
#include <string>

#include "kernels/dispatch/run_op.h"

namespace reel::kernels {
namespace {

// Its calls are TorchCalls.
class AtenVariant final : public HostedVariant {
 public:
  explicit AtenVariant(const TorchOperator& op)
      : facts_{.op = op.key,
               .variant = "aten",
               .origin = "framework",
               .min_sm = kCpuOnly,
               .max_sm = kAnyLaterSm,
               .dtypes = kAnyFloating},
        form_(*op.aten) {}

  const HostedVariantFacts& facts() const override { return facts_; }
  bool Accepts(const void* call) const override { return form_.why_not(CallOf(call)).empty(); }
  std::string Reason(const void* call) const override {
    return std::string(form_.why_not(CallOf(call)));
  }
  absl::Status Launch(const void* call, DeviceStream stream) const override {
    return form_.run(CallOf(call), stream);
  }

 private:
  static const TorchCall& CallOf(const void* call) { return *static_cast<const TorchCall*>(call); }

  const HostedVariantFacts facts_;
  const AtenForm& form_;
};

}  // namespace

HostedVariants AtenVariants(const std::vector<TorchOperator>& operators) {
  HostedVariants variants;
  for (const TorchOperator& op : operators) {
    if (op.aten != nullptr) variants.push_back(std::make_shared<AtenVariant>(op));
  }
  return variants;
}

absl::Status RunOperator(const TorchOperator& op, const TorchCall& call, const Execution& run) {
  if (op.aten == nullptr) return op.run(call, run);
  return RunModelCall({.op = op.key, .dtype = call.View("out").dtype, .call = &call}, run,
                      [&](const Execution& chosen) { return op.run(call, chosen); });
}

}  // namespace reel::kernels
