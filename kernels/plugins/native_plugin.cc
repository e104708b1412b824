// SPDX-License-Identifier: Apache-2.0
#include "kernels/plugins/native_plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/kernel_variant.h"
#include "kernels/plugins/plugin_v1.h"

namespace reel::kernels {
namespace {

constexpr uint32_t kMaxVariants = 256;
constexpr size_t kLongestName = 64;

static_assert(REEL_PLUGIN_FP16 == MaskOf(Dtype::kF16) && REEL_PLUGIN_BF16 == MaskOf(Dtype::kBf16) &&
              REEL_PLUGIN_FP32 == MaskOf(Dtype::kF32));

class NativeVariant final : public HostedVariant {
 public:
  NativeVariant(HostedVariantFacts facts, const ReelPluginV1& plugin,
                const ReelPluginVariantV1& variant)
      : facts_(std::move(facts)), plugin_(plugin), variant_(variant) {}

  const HostedVariantFacts& facts() const override { return facts_; }
  bool Accepts(const void* params) const override {
    return variant_.accepts == nullptr || variant_.accepts(params, facts_.params_size) != 0;
  }
  absl::Status Launch(const void* params, DeviceStream stream) const override {
    const int32_t error = variant_.launch(params, facts_.params_size, stream.handle);
    if (error == 0) return absl::OkStatus();
    const char* name = plugin_.error_name == nullptr ? nullptr : plugin_.error_name(error);
    return {CodeOf(error), name == nullptr ? absl::StrCat("error ", error) : name};
  }

 private:
  absl::StatusCode CodeOf(int32_t error) const {
    const int32_t kind =
        plugin_.error_kind == nullptr ? REEL_PLUGIN_OTHER : plugin_.error_kind(error);
    if (kind == REEL_PLUGIN_OUT_OF_MEMORY) return absl::StatusCode::kResourceExhausted;
    if (kind == REEL_PLUGIN_DEVICE_LOST) return absl::StatusCode::kAborted;
    return absl::StatusCode::kInternal;
  }

  const HostedVariantFacts facts_;
  const ReelPluginV1& plugin_;  // owned by the library, which stays loaded
  const ReelPluginVariantV1& variant_;
};

absl::Status BadVariant(uint32_t index, absl::string_view rule) {
  return absl::InvalidArgumentError(
      absl::StrCat("The plug-in's table is wrong: variant ", index, ", ", rule));
}

bool IsName(const char* text) {
  const size_t size = strnlen(text, kLongestName);
  return size > 0 && size < kLongestName &&
         std::all_of(
             text, text + size,
             [](unsigned char c) { return absl::ascii_isalnum(c) || c == '_' || c == '-'; });
}

absl::StatusOr<HostedVariantFacts> FactsOf(const PluginBuild& build,
                                           const ReelPluginVariantV1& entry, uint32_t index) {
  if (entry.op == nullptr || !IsName(entry.op)) {
    return BadVariant(index, "op must be an operator's name");
  }
  if (entry.name != nullptr && !IsName(entry.name)) {
    return BadVariant(index, "name must be letters, digits, _ and -");
  }
  if (entry.launch == nullptr) return BadVariant(index, "launch must be there");
  if (entry.dtypes == 0 || (entry.dtypes & ~kAnyFloating) != 0) {
    return BadVariant(index, "dtypes must be some of fp16, bf16 and fp32");
  }
  const bool on_cpu = entry.min_sm == kCpuOnly && entry.max_sm == kCpuOnly;
  if (on_cpu == build.variant.cuda || entry.min_sm > entry.max_sm || entry.min_sm < 0) {
    return BadVariant(index, build.variant.cuda ? "min_sm to max_sm must be capabilities"
                                                : "min_sm and max_sm must be 0: it is for the CPU");
  }
  const std::string variant =
      PluginVariantName(build.source.name, entry.name == nullptr ? "" : entry.name);
  if (variant.size() > kLongestName) return BadVariant(index, "its name is too long: " + variant);
  return HostedVariantFacts{.op = entry.op,
                            .variant = variant,
                            .origin = build.source.name,
                            .min_sm = entry.min_sm,
                            .max_sm = entry.max_sm,
                            .dtypes = entry.dtypes,
                            .params_size = entry.params_size};
}

absl::StatusOr<const ReelPluginV1*> Open(const PluginBuild& build) {
  void* handle = dlopen(build.library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("The plug-in's library cannot be opened: ", dlerror()));
  }
  const auto entry = reinterpret_cast<ReelPluginV1Entry>(dlsym(handle, REEL_PLUGIN_V1_ENTRY));
  if (entry == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        "The plug-in's library has no kernels of Reel: it lacks ", REEL_PLUGIN_V1_ENTRY));
  }
  const ReelPluginV1* plugin = entry();
  if (plugin == nullptr || plugin->abi != REEL_PLUGIN_ABI_V1) {
    return absl::FailedPreconditionError(absl::StrCat(
        "The plug-in's library is of another version: ", plugin == nullptr ? 0 : plugin->abi,
        ", expected ", static_cast<int>(REEL_PLUGIN_ABI_V1)));
  }
  if (plugin->variants == nullptr || plugin->num_variants == 0 ||
      plugin->num_variants > kMaxVariants) {
    return absl::InvalidArgumentError(
        absl::StrCat("The plug-in's table is wrong: ", plugin->num_variants, " variants, not 1 to ",
                     kMaxVariants));
  }
  return plugin;
}

}  // namespace

std::string PluginVariantName(const std::string& plugin, const std::string& variant) {
  return variant.empty() ? plugin : absl::StrCat(plugin, ".", variant);
}

absl::StatusOr<std::vector<std::shared_ptr<const HostedVariant>>> OpenNativePlugin(
    const PluginBuild& build) {
  REEL_ASSIGN_OR_RETURN(const ReelPluginV1* plugin, Open(build));
  std::vector<std::shared_ptr<const HostedVariant>> variants;
  for (uint32_t i = 0; i < plugin->num_variants; ++i) {
    REEL_ASSIGN_OR_RETURN(HostedVariantFacts facts, FactsOf(build, plugin->variants[i], i));
    variants.push_back(
        std::make_shared<NativeVariant>(std::move(facts), *plugin, plugin->variants[i]));
  }
  return variants;
}

}  // namespace reel::kernels
