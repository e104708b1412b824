// SPDX-License-Identifier: Apache-2.0
// Reads the arguments of one call by the names of its schema.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <optional>
#include <string>
#include <vector>

#include "kernels/base/tensor_view.h"

namespace reel::kernels {

// Borrows the schema and the values. An unknown name is a bug of the caller and throws c10::Error.
// Tensors of a type unknown to the kernels throw c10::NotImplementedError, which names it.
class TorchCall {
 public:
  TorchCall(const c10::FunctionSchema& schema, c10::ArrayRef<c10::IValue> values)
      : schema_(schema), values_(values) {}

  bool Has(const char* name) const { return !Value(name).isNone(); }
  TensorView View(const char* name) const;
  std::optional<TensorView> OptionalView(const char* name) const;
  at::Tensor Tensor(const char* name) const { return Value(name).toTensor(); }
  double Real(const char* name) const { return Value(name).toDouble(); }
  int64_t Integer(const char* name) const { return Value(name).toInt(); }
  c10::SymInt Size(const char* name) const { return Value(name).toSymInt(); }
  bool Flag(const char* name) const { return Value(name).toBool(); }
  // Empty if it is absent.
  std::string Text(const char* name) const;
  std::optional<double> OptionalReal(const char* name) const;
  std::optional<at::ScalarType> OptionalType(const char* name) const;
  std::optional<int64_t> OptionalInteger(const char* name) const;
  std::vector<int64_t> Integers(const char* name) const;
  std::vector<double> Reals(const char* name) const { return Value(name).toDoubleVector(); }

  // The same, by the type of what is read.
  void Read(const char* name, TensorView& value) const { value = View(name); }
  void Read(const char* name, std::optional<TensorView>& value) const {
    value = OptionalView(name);
  }
  void Read(const char* name, bool& value) const { value = Flag(name); }
  void Read(const char* name, int64_t& value) const { value = Integer(name); }
  void Read(const char* name, double& value) const { value = Real(name); }
  void Read(const char* name, std::optional<int64_t>& value) const {
    value = OptionalInteger(name);
  }
  void Read(const char* name, std::optional<double>& value) const { value = OptionalReal(name); }

  // The call's device: CUDA if one of its tensors is there.
  at::Device device() const;

 private:
  const c10::IValue& Value(const char* name) const;

  const c10::FunctionSchema& schema_;
  c10::ArrayRef<c10::IValue> values_;
};

}  // namespace reel::kernels
