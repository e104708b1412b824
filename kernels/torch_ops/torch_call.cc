// SPDX-License-Identifier: Apache-2.0
#include "kernels/torch_ops/torch_call.h"

#include <c10/util/Exception.h>

#include "kernels/torch_views/tensor_view_of.h"

namespace reel::kernels {

const c10::IValue& TorchCall::Value(const char* name) const {
  const auto& arguments = schema_.arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name() == name) return values_[i];
  }
  TORCH_CHECK(false, "The schema has no such argument: ", schema_.name(), ", ", name);
}

TensorView TorchCall::View(const char* name) const {
  const at::Tensor& tensor = Value(name).toTensor();
  TORCH_CHECK_NOT_IMPLEMENTED(DtypeOf(tensor.scalar_type()).has_value(), schema_.name(),
                              ": this type is not computed on: ", name, " is ",
                              tensor.scalar_type(), ", not Half, BFloat16 or Float");
  return ViewOf(tensor);
}

std::optional<TensorView> TorchCall::OptionalView(const char* name) const {
  return Has(name) ? std::optional(View(name)) : std::nullopt;
}

std::string TorchCall::Text(const char* name) const {
  const c10::IValue& value = Value(name);
  return value.isNone() ? std::string() : value.toStringRef();
}

std::optional<double> TorchCall::OptionalReal(const char* name) const {
  const c10::IValue& value = Value(name);
  return value.isNone() ? std::nullopt : std::optional(value.toDouble());
}

std::optional<int64_t> TorchCall::OptionalInteger(const char* name) const {
  const c10::IValue& value = Value(name);
  return value.isNone() ? std::nullopt : std::optional(value.toInt());
}

std::optional<at::ScalarType> TorchCall::OptionalType(const char* name) const {
  const c10::IValue& value = Value(name);
  return value.isNone() ? std::nullopt : std::optional(value.toScalarType());
}

std::vector<int64_t> TorchCall::Integers(const char* name) const {
  const c10::IValue& value = Value(name);
  return value.isNone() ? std::vector<int64_t>() : value.toIntVector();
}

at::Device TorchCall::device() const {
  for (const c10::IValue& value : values_) {
    if (value.isTensor() && value.toTensor().defined() && value.toTensor().is_cuda()) {
      return value.toTensor().device();
    }
  }
  return at::Device(at::kCPU);
}

}  // namespace reel::kernels
