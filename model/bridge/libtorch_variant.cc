// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/libtorch_variant.h"

#include <string>
#include <utility>

namespace reel::model {
namespace {

constexpr kernels::DtypeMask kAnyType = ~kernels::DtypeMask{0};

class LibtorchVariant final : public kernels::HostedVariant {
 public:
  LibtorchVariant(kernels::HostedVariantFacts facts, CallFunctions functions)
      : facts_(std::move(facts)), functions_(functions) {}

  const kernels::HostedVariantFacts& facts() const override { return facts_; }
  bool Accepts(const void* call) const override {
    return functions_.why_not == nullptr || functions_.why_not(call).empty();
  }
  std::string Reason(const void* call) const override {
    return std::string(functions_.why_not(call));
  }
  bool Prefers(const void* call) const override {
    return functions_.prefers == nullptr || functions_.prefers(call);
  }
  absl::Status Launch(const void* call, kernels::DeviceStream) const override {
    functions_.run(call);
    return absl::OkStatus();
  }

 private:
  const kernels::HostedVariantFacts facts_;
  const CallFunctions functions_;
};

}  // namespace

std::shared_ptr<const kernels::HostedVariant> MakeLibtorchVariant(const LibtorchVariantFacts& facts,
                                                                  CallFunctions functions) {
  return std::make_shared<LibtorchVariant>(
      kernels::HostedVariantFacts{.op = std::string(facts.op),
                                  .variant = std::string(facts.variant),
                                  .origin = "framework",
                                  .min_sm = facts.range.min_sm,
                                  .max_sm = facts.range.max_sm,
                                  .dtypes = kAnyType,
                                  .params_size = 0,
                                  .for_some_sizes = facts.for_some_sizes},
      functions);
}

}  // namespace reel::model
