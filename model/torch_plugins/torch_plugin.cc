// SPDX-License-Identifier: Apache-2.0
// Opens torch builds of plug-ins. Behind model/plugins.h, so that callers need no libtorch.
#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/kernel_variant.h"
#include "kernels/plugins/plugin_check.h"
#include "model/bridge/torch_device.h"
#include "model/bridge/torch_guard.h"
#include "model/plugins.h"
#include "model/torch_plugins/torch_plugin_variant.h"

namespace reel::model {
namespace {

using kernels::DtypeMask;
using kernels::HostedVariantFacts;
using kernels::PluginBuild;

// Lists operators' names in a message.
constexpr size_t kMaxNamed = 24;

// The operators of a namespace, without its name.
std::vector<std::string> OperatorsOf(const std::string& name_space) {
  const std::string prefix = name_space + "::";
  std::vector<std::string> names;
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (absl::StartsWith(name.name, prefix)) names.push_back(name.name.substr(prefix.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Whether types and order agree, with outputs in the same places. Names may differ.
bool SameSchema(const c10::FunctionSchema& found, const TorchForm& form) {
  const c10::FunctionSchema wanted =
      torch::jit::parseSchema(absl::StrCat(form.function, form.arguments));
  if (found.arguments().size() != wanted.arguments().size() ||
      found.returns().size() != wanted.returns().size() || found.is_vararg()) {
    return false;
  }
  const auto writes = [](const c10::Argument& argument) {
    return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
  };
  for (size_t i = 0; i < wanted.arguments().size(); ++i) {
    const c10::Argument& a = found.arguments()[i];
    const c10::Argument& b = wanted.arguments()[i];
    if (*a.type() != *b.type() || writes(a) != writes(b)) return false;
  }
  return true;
}

absl::Status LoadLibrary(const PluginBuild& build, kernels::DeviceStream stream) {
  // Many libraries link it; on a CPU it would require the CUDA half.
  if (stream.device >= 0) dlopen("libtorch.so", RTLD_NOW | RTLD_GLOBAL);
  if (dlopen(build.library.c_str(), RTLD_LAZY | RTLD_LOCAL) != nullptr) return absl::OkStatus();
  const std::string words = dlerror();
  const bool python = absl::StrContains(words, "undefined symbol: Py");
  return absl::FailedPreconditionError(
      absl::StrCat("The plug-in's library cannot be opened: ", words,
                   python ? " (is LD_BIND_NOW set? It must not be)" : ""));
}

// What is known of a library while its forms are tried.
class Opening {
 public:
  Opening(const PluginBuild& build, kernels::DeviceStream stream, at::Device device,
          std::unique_ptr<kernels::CheckMemory> memory)
      : build_(build), stream_(stream), device_(device), memory_(std::move(memory)) {}

  void Try(const TorchForm& form) {
    const std::string name = absl::StrCat(build_.metadata.id, "::", form.function);
    const auto handle = c10::Dispatcher::singleton().findSchema({name, ""});
    if (!handle.has_value()) return;
    if (!SameSchema(handle->schema(), form)) {
      reasons_[form.function] = "another schema than Reel knows";
      return;
    }
    BoundForm bound{&form, *handle, kernels::kAnyFloating};
    const TorchPluginVariant trial(FactsOf(form, kernels::kAnyFloating), {bound}, device_);
    const kernels::PluginVerdict verdict = kernels::CheckPluginVariant(trial, *memory_, stream_);
    if (verdict.dtypes == 0) {
      reasons_.try_emplace(form.function, verdict.failure.message());
      return;
    }
    used_.insert(form.function);
    bound.dtypes = verdict.dtypes;
    forms_[form.op].push_back(bound);
  }

  TorchPlugin Finish(const std::vector<std::string>& operators) const {
    TorchPlugin opened;
    for (const auto& [op, bound] : forms_) {
      DtypeMask dtypes = 0;
      for (const BoundForm& form : bound) dtypes |= form.dtypes;
      opened.variants.push_back(std::make_shared<TorchPluginVariant>(
          FactsOf(*bound.front().form, dtypes), bound, device_));
    }
    for (const std::string& name : operators) {
      if (used_.contains(name) || opened.unused.size() >= kMaxNamed) continue;
      const auto reason = reasons_.find(name);
      opened.unused.push_back(
          absl::StrCat(name, ": ", reason == reasons_.end() ? "not known" : reason->second));
    }
    return opened;
  }

 private:
  HostedVariantFacts FactsOf(const TorchForm& form, DtypeMask dtypes) const {
    const bool cuda = stream_.device >= 0;
    return {.op = form.op,
            .variant = build_.source.name,
            .origin = build_.source.name,
            .min_sm = cuda ? 75 : kernels::kCpuOnly,
            .max_sm = cuda ? kernels::kAnyLaterSm : kernels::kCpuOnly,
            .dtypes = dtypes,
            .params_size = form.params_size};
  }

  const PluginBuild& build_;
  const kernels::DeviceStream stream_;
  const at::Device device_;
  const std::unique_ptr<kernels::CheckMemory> memory_;
  std::map<std::string, std::vector<BoundForm>> forms_;  // by Reel's operator
  std::set<std::string> used_;
  std::map<std::string, std::string> reasons_;
};

// Uses libtorch's allocator and its copies, which wait for launched work.
class DeviceCheckMemory final : public kernels::CheckMemory {
 public:
  explicit DeviceCheckMemory(at::Device device) : device_(device) {}

  absl::StatusOr<void*> Place(absl::Span<const std::byte> bytes) override {
    return TorchGuard([&]() -> absl::StatusOr<void*> {
      places_.push_back(Host(const_cast<std::byte*>(bytes.data()), bytes.size()).to(device_));
      return places_.back().mutable_data_ptr();
    });
  }
  absl::Status Read(const void* place, absl::Span<std::byte> bytes) override {
    return TorchGuard([&]() -> absl::Status {
      for (const at::Tensor& there : places_) {
        if (there.const_data_ptr() == place) Host(bytes.data(), bytes.size()).copy_(there);
      }
      return absl::OkStatus();
    });
  }
  void Clear() override { places_.clear(); }

 private:
  static at::Tensor Host(std::byte* data, size_t size) {
    return at::from_blob(data, {static_cast<int64_t>(size)}, at::TensorOptions().dtype(at::kByte));
  }

  const at::Device device_;
  std::vector<at::Tensor> places_;
};

}  // namespace

absl::Status DescribeTorch(kernels::DeviceStream stream, kernels::PluginHost& host) {
  host.torch_major = TORCH_VERSION_MAJOR;
  host.torch_minor = TORCH_VERSION_MINOR;
  if (stream.device < 0) return absl::OkStatus();
  return TorchGuard([&]() -> absl::Status {
    REEL_RETURN_IF_ERROR(TorchDeviceOf(stream).status());
    const auto version = static_cast<int>(at::detail::getCUDAHooks().versionCUDART());
    host.cuda_major = version / 1000;
    host.cuda_minor = version % 1000 / 10;
    return absl::OkStatus();
  });
}

absl::StatusOr<TorchPlugin> OpenTorchPlugin(const PluginBuild& build,
                                            kernels::DeviceStream stream) {
  return TorchGuard([&]() -> absl::StatusOr<TorchPlugin> {
    const std::string& id = build.metadata.id;
    if (!OperatorsOf(id).empty()) {
      return absl::AlreadyExistsError(
          absl::StrCat("The plug-in's namespace is taken in this process: ", id));
    }
    REEL_ASSIGN_OR_RETURN(const at::Device device, TorchDeviceOf(stream));
    REEL_ASSIGN_OR_RETURN(auto memory, MakeCheckMemory(stream));
    REEL_RETURN_IF_ERROR(LoadLibrary(build, stream));
    const std::vector<std::string> operators = OperatorsOf(id);
    if (operators.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("The plug-in's library registers nothing under its id: ", id));
    }
    Opening opening(build, stream, device, std::move(memory));
    for (const TorchForm& form : TorchForms()) opening.Try(form);
    TorchPlugin opened = opening.Finish(operators);
    if (!opened.variants.empty()) return opened;
    return absl::FailedPreconditionError(absl::StrCat(
        "The plug-in has no operator that Reel can use: ", absl::StrJoin(opened.unused, "; ")));
  });
}

absl::StatusOr<std::unique_ptr<kernels::CheckMemory>> MakeCheckMemory(
    kernels::DeviceStream stream) {
  if (stream.device < 0) return std::make_unique<kernels::HostCheckMemory>();
  return TorchGuard([&]() -> absl::StatusOr<std::unique_ptr<kernels::CheckMemory>> {
    REEL_ASSIGN_OR_RETURN(const at::Device device, TorchDeviceOf(stream));
    return std::make_unique<DeviceCheckMemory>(device);
  });
}

}  // namespace reel::model
