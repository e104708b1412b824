// SPDX-License-Identifier: Apache-2.0
// A variant of a torch plug-in: calls operators of its library, boxed.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <vector>

#include "kernels/dispatch/hosted_variant.h"
#include "model/torch_plugins/torch_forms.h"

namespace reel::model {

// An operator of a library, and the types in which it is called.
struct BoundForm {
  const TorchForm* form;
  c10::OperatorHandle handle;
  kernels::DtypeMask dtypes;
};

// Takes a call if one of its forms does; the first such form gets it.
class TorchPluginVariant final : public kernels::HostedVariant {
 public:
  TorchPluginVariant(kernels::HostedVariantFacts facts, std::vector<BoundForm> forms,
                     at::Device device)
      : facts_(std::move(facts)), forms_(std::move(forms)), device_(device) {}

  const kernels::HostedVariantFacts& facts() const override { return facts_; }
  bool Accepts(const void* params) const override { return FormFor(params) != nullptr; }
  absl::Status Launch(const void* params, kernels::DeviceStream stream) const override;

 private:
  const BoundForm* FormFor(const void* params) const;

  const kernels::HostedVariantFacts facts_;
  const std::vector<BoundForm> forms_;
  const at::Device device_;
};

}  // namespace reel::model
