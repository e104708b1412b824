// SPDX-License-Identifier: Apache-2.0
// Registers everything when libreel_kernels_torch.so is loaded, in Python or in a C++ program.
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/built_in_catalog.h"
#include "kernels/ltx_rope/ltx_rope_table.h"
#include "kernels/torch_ops/aten_variant.h"
#include "kernels/torch_ops/boxed_kernels.h"
#include "kernels/torch_ops/kernel_host.h"
#include "kernels/torch_ops/torch_failure.h"
#include "kernels/torch_ops/torch_operator.h"

// A published build has a namespace of its own, so that versions can be loaded together.
#ifndef REEL_TORCH_NAMESPACE
#define REEL_TORCH_NAMESPACE reel_kernels
#endif

namespace reel::kernels {
namespace {

using torch::CppFunction;

constexpr char kVariant[] = "str? variant=None";

std::vector<TorchOperator> AllOperators() {
  std::vector<TorchOperator> all;
  for (const auto& part : {DescribedOperators(), FusedOperators(), LinearOperators(),
                           ConvolutionOperators(), RopeOperators(), VideoOperators()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

// "Tensor x, *, float eps" gets the override after its keywords, "Tensor x, *" as its first one.
std::string WithVariant(const TorchOperator& op) {
  return absl::StrCat(op.arguments, ", ", kVariant);
}

void Implement(torch::Library& library, const std::string& name, c10::DispatchKey key,
               CppFunction function) {
  library.impl(name.c_str(), torch::dispatch(key, std::move(function)));
}

void Register(torch::Library& library, const TorchOperator& op,
              const std::shared_ptr<KernelHost>& host) {
  const std::vector<at::Tag> tags = {at::Tag::pt2_compliant_tag};
  const std::string& name = op.name;
  const std::string mutating = absl::StrCat(name, "_out");
  const std::string schema =
      absl::StrCat(mutating, "(", op.outputs, ", ", WithVariant(op), ") -> ()");
  library.def(schema.c_str(), tags);
  for (const auto key : {c10::DispatchKey::CPU, c10::DispatchKey::CUDA}) {
    Implement(library, mutating, key,
              CppFunction::makeFromBoxedFunctor(std::make_unique<MutatingKernel>(op, host)));
  }
  Implement(library, mutating, c10::DispatchKey::Meta,
            CppFunction::makeFromBoxedFunction<&MetaKernel>());

  const std::string functional = absl::StrCat(name, "(", WithVariant(op), ") -> ", op.returns);
  library.def(functional.c_str(), tags);
  const auto handle = c10::Dispatcher::singleton().findSchemaOrThrow(
      absl::StrCat(C10_STRINGIZE(REEL_TORCH_NAMESPACE), "::", mutating).c_str(), "");
  Implement(library, name, c10::DispatchKey::CompositeExplicitAutograd,
            CppFunction::makeFromBoxedFunctor(std::make_unique<FunctionalKernel>(op, handle)));
  for (const std::string& each : {name, mutating}) {
    Implement(library, each, c10::DispatchKey::Autograd,
              CppFunction::makeFromBoxedFunction<&InferenceOnlyKernel>());
  }
}

// Rows of cosines and sines, and for each token the rows of its t, y and x: on the CPU.
std::tuple<at::Tensor, at::Tensor> RopeTable(at::IntArrayRef grid, double frame_rate,
                                             int64_t channels) {
  TORCH_CHECK_VALUE(grid.size() == 3, "ltx_rope_table: a grid is [frames, height, width], not of ",
                    grid.size(), " values");
  auto made = MakeLtxRopeTable(grid[0], grid[1], grid[2], frame_rate, channels);
  ThrowIfError(made.status());
  const int64_t tokens = static_cast<int64_t>(made->index.size()) / 3;
  at::Tensor cos_sin = at::empty({made->rows, made->frequencies, 2}, at::kFloat);
  at::Tensor index = at::empty({1, tokens, 3}, at::kInt);
  std::copy(made->cos_sin.begin(), made->cos_sin.end(), cos_sin.mutable_data_ptr<float>());
  std::copy(made->index.begin(), made->index.end(), index.mutable_data_ptr<int32_t>());
  return {cos_sin, index};
}

// Lists variants and counts for the Python module's variants() and device_report().
void RegisterListings(torch::Library& library, const std::shared_ptr<KernelHost>& host) {
  library.def("ltx_rope_table(int[] grid, float frame_rate, int channels) -> (Tensor, Tensor)",
              torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, TORCH_FN(RopeTable)));
  library.def("variants(str op, Device device) -> Dict(str, str)",
              [host](const std::string& op, at::Device device) {
                const auto ops = host->List(device);
                ThrowIfError(ops.status());
                c10::Dict<std::string, std::string> reasons;
                for (const OpListing& listing : *ops) {
                  if (listing.op != op) continue;
                  for (const VariantListing& variant : listing.variants) {
                    reasons.insert(variant.name, variant.runs ? "" : variant.reason);
                  }
                }
                TORCH_CHECK_VALUE(!reasons.empty(), "There is no such operator: ", op);
                return reasons;
              });
  library.def("calls() -> Dict(str, int)", [host]() {
    c10::Dict<std::string, int64_t> calls;
    for (const auto& [ran, count] : host->Calls()) {
      calls.insert(absl::StrCat(ran.first, "/", ran.second), count);
    }
    return calls;
  });
  library.def("operators() -> str[]", []() {
    std::vector<std::string> names;
    for (const TorchOperator& op : AllOperators()) names.emplace_back(op.name);
    return names;
  });
  library.def("keys() -> str[]", []() {
    std::vector<std::string> keys;
    for (const OpVariants& op : BuiltInCpuVariants()) keys.emplace_back(op.op);
    return keys;
  });
}

void RegisterAll(torch::Library& library) {
  // A second copy of this library in a process registers nothing.
  const auto there = c10::Dispatcher::singleton().findSchema(
      {C10_STRINGIZE(REEL_TORCH_NAMESPACE) "::operators", ""});
  if (there.has_value()) return;
  const auto host = std::make_shared<KernelHost>(CudaLibraryBeside(), AtenVariants(AllOperators()));
  for (const TorchOperator& op : AllOperators()) Register(library, op, host);
  RegisterListings(library, host);
}

}  // namespace
}  // namespace reel::kernels

TORCH_LIBRARY_FRAGMENT(REEL_TORCH_NAMESPACE, library) { reel::kernels::RegisterAll(library); }
