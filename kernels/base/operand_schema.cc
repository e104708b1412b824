// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/operand_schema.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace reel::kernels {

std::string SchemaWriter::Text(double value) {
  std::string text = absl::StrCat(value);
  // Torch takes "0" for an integer.
  return text.find_first_of(".e") == std::string::npos ? absl::StrCat(text, ".0") : text;
}

std::string SchemaWriter::Quoted(const char* name) { return absl::StrCat("\"", name, "\""); }

void SchemaWriter::AddTensor(const Operand& operand, bool may_be_absent) {
  const char* const optional = may_be_absent ? "?" : "";
  if (operand.role == OperandRole::kOutput) {
    const std::string alias(1, static_cast<char>('a' + outputs_.size()));
    outputs_.push_back(absl::StrCat("Tensor(", alias, "!)", optional, " ", operand.name));
    return;
  }
  arguments_.push_back(
      absl::StrCat("Tensor", optional, " ", operand.name, may_be_absent ? "=None" : ""));
}

void SchemaWriter::AddOption(const char* type, const char* name, const std::string& usual) {
  if (!has_options_) arguments_.emplace_back("*");
  has_options_ = true;
  arguments_.push_back(absl::StrCat(type, " ", name, "=", usual));
}

OperandSchema SchemaWriter::Finish() const {
  std::vector<std::string> arguments = arguments_;
  if (!has_options_) arguments.emplace_back("*");
  const std::vector<std::string> returns(outputs_.size(), "Tensor");
  return {.outputs = absl::StrJoin(outputs_, ", "),
          .returns = returns.size() == 1 ? returns.front()
                                         : absl::StrCat("(", absl::StrJoin(returns, ", "), ")"),
          .arguments = absl::StrJoin(arguments, ", ")};
}

}  // namespace reel::kernels
