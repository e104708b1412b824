// SPDX-License-Identifier: Apache-2.0
#include "kernels/plugins/native_plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/kernel_row.h"
#include "kernels/plugins/plugin_v1.h"

namespace reel::kernels {
namespace {

constexpr uint32_t kMaxRows = 256;
constexpr size_t kLongestName = 64;

static_assert(REEL_PLUGIN_FP16 == MaskOf(Dtype::kF16) && REEL_PLUGIN_BF16 == MaskOf(Dtype::kBf16) &&
              REEL_PLUGIN_FP32 == MaskOf(Dtype::kF32));

class NativeRow final : public PluginRow {
 public:
  NativeRow(PluginRowFacts facts, const ReelPluginV1& plugin, const ReelPluginRowV1& row)
      : facts_(std::move(facts)), plugin_(plugin), row_(row) {}

  const PluginRowFacts& facts() const override { return facts_; }
  bool Accepts(const void* params) const override {
    return row_.accepts == nullptr || row_.accepts(params, facts_.params_size) != 0;
  }
  absl::Status Launch(const void* params, DeviceStream stream) const override {
    const int32_t error = row_.launch(params, facts_.params_size, stream.handle);
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

  const PluginRowFacts facts_;
  const ReelPluginV1& plugin_;  // the library's, which stays
  const ReelPluginRowV1& row_;
};

absl::Status BadRow(uint32_t index, absl::string_view rule) {
  return absl::InvalidArgumentError(
      absl::StrCat("The plug-in's table is wrong: row ", index, ", ", rule));
}

bool IsName(const char* text) {
  const size_t size = strnlen(text, kLongestName);
  return size > 0 && size < kLongestName &&
         std::all_of(
             text, text + size,
             [](unsigned char c) { return absl::ascii_isalnum(c) || c == '_' || c == '-'; });
}

absl::StatusOr<PluginRowFacts> FactsOf(const PluginBuild& build, const ReelPluginRowV1& row,
                                       uint32_t index) {
  if (row.op == nullptr || !IsName(row.op)) return BadRow(index, "op must be an operator's name");
  if (row.variant != nullptr && !IsName(row.variant)) {
    return BadRow(index, "variant must be letters, digits, _ and -");
  }
  if (row.launch == nullptr) return BadRow(index, "launch must be there");
  if (row.dtypes == 0 || (row.dtypes & ~kAnyFloating) != 0) {
    return BadRow(index, "dtypes must be some of fp16, bf16 and fp32");
  }
  const bool on_cpu = row.min_sm == kCpuOnly && row.max_sm == kCpuOnly;
  if (on_cpu == build.variant.cuda || row.min_sm > row.max_sm || row.min_sm < 0) {
    return BadRow(index, build.variant.cuda ? "min_sm to max_sm must be capabilities"
                                            : "min_sm and max_sm must be 0: it is for the CPU");
  }
  const std::string variant =
      PluginVariantName(build.source.name, row.variant == nullptr ? "" : row.variant);
  if (variant.size() > kLongestName) return BadRow(index, "its name is too long: " + variant);
  return PluginRowFacts{.op = row.op,
                        .variant = variant,
                        .origin = build.source.name,
                        .min_sm = row.min_sm,
                        .max_sm = row.max_sm,
                        .dtypes = row.dtypes,
                        .params_size = row.params_size};
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
  if (plugin->rows == nullptr || plugin->num_rows == 0 || plugin->num_rows > kMaxRows) {
    return absl::InvalidArgumentError(absl::StrCat(
        "The plug-in's table is wrong: ", plugin->num_rows, " rows, not 1 to ", kMaxRows));
  }
  return plugin;
}

}  // namespace

std::string PluginVariantName(const std::string& plugin, const std::string& row) {
  return row.empty() ? plugin : absl::StrCat(plugin, ".", row);
}

absl::StatusOr<std::vector<std::shared_ptr<const PluginRow>>> OpenNativePlugin(
    const PluginBuild& build) {
  REEL_ASSIGN_OR_RETURN(const ReelPluginV1* plugin, Open(build));
  std::vector<std::shared_ptr<const PluginRow>> rows;
  for (uint32_t i = 0; i < plugin->num_rows; ++i) {
    REEL_ASSIGN_OR_RETURN(PluginRowFacts facts, FactsOf(build, plugin->rows[i], i));
    rows.push_back(std::make_shared<NativeRow>(std::move(facts), *plugin, plugin->rows[i]));
  }
  return rows;
}

}  // namespace reel::kernels
