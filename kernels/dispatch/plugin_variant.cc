// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/plugin_variant.h"

#include <algorithm>
#include <regex>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kernels/dispatch/plugin_v1.h"

namespace reel::kernels {
namespace {

constexpr size_t kLongestName = 128;

int Number(const std::string& digits) {
  int value = 0;
  return absl::SimpleAtoi(digits, &value) ? value : -1;
}

// Empty: `variant` is filled.
std::string Parse(const std::string& folder, PluginVariant& variant) {
  static const auto* const kFramework = new std::regex(
      "(?:reel([0-9]{1,4})|torch-stable-abi([0-9])([0-9]{1,4})|"
      "torch([0-9])([0-9]{1,4})(?:-(cxx11|cxx98))?)-(?:(cpu)|cu([0-9]{1,4})([0-9]))-"
      "([a-z0-9_]+)-([a-z0-9]+)");
  if (folder.size() > kLongestName) return "its name is too long";
  if (absl::StartsWith(folder, "torch-") && !absl::StartsWith(folder, "torch-stable-abi")) {
    return "it holds Python code, which this process does not run";
  }
  std::smatch match;
  if (!std::regex_match(folder, match, *kFramework)) return "its name is none of a build";
  variant.folder = folder;
  if (match[1].matched) {
    variant.kind = PluginVariant::Kind::kNative;
    variant.major = Number(match[1]);
  } else if (match[2].matched) {
    variant.kind = PluginVariant::Kind::kTorchStableAbi;
    variant.major = Number(match[2]);
    variant.minor = Number(match[3]);
  } else {
    variant.major = Number(match[4]);
    variant.minor = Number(match[5]);
    variant.tagged = match[6].matched;
    variant.cxx11 = match[6] != "cxx98";
  }
  variant.cuda = !match[7].matched;
  if (variant.cuda) {
    variant.cuda_major = Number(match[8]);
    variant.cuda_minor = Number(match[9]);
  }
  variant.cpu = match[10];
  variant.os = match[11];
  return "";
}

std::string WhyNotTorch(const PluginVariant& variant, const PluginHost& host) {
  const auto ours = std::tuple(host.torch_major, host.torch_minor);
  const auto theirs = std::tuple(variant.major, variant.minor);
  const std::string versions = absl::StrCat(variant.major, ".", variant.minor, ", here is ",
                                            host.torch_major, ".", host.torch_minor);
  if (host.torch_major == 0) return "it needs libtorch, which this build does not have";
  if (variant.kind == PluginVariant::Kind::kTorchStableAbi) {
    return theirs <= ours ? "" : absl::StrCat("it needs the stable ABI of torch ", versions);
  }
  if (theirs != ours) return absl::StrCat("it is for torch ", versions);
  return variant.cxx11 ? "" : "it has the old C++ ABI";
}

std::string WhyNotFitting(const PluginVariant& variant, const PluginHost& host) {
  if (variant.cpu != host.cpu || variant.os != host.os) {
    return absl::StrCat("it is for ", variant.cpu, "-", variant.os, ", here is ", host.cpu, "-",
                        host.os);
  }
  if (variant.kind != PluginVariant::Kind::kNative) {
    if (std::string reason = WhyNotTorch(variant, host); !reason.empty()) return reason;
  } else if (variant.major != REEL_PLUGIN_ABI_V1) {
    return absl::StrCat("it is for version ", variant.major, " of Reel's plug-ins, here is ",
                        static_cast<int>(REEL_PLUGIN_ABI_V1));
  }
  if (variant.cuda != host.on_cuda) {
    return host.on_cuda ? "it is for the CPU, and this worker has a device"
                        : "it is for CUDA, and this worker runs on the CPU";
  }
  if (variant.cuda &&
      (variant.cuda_major != host.cuda_major || variant.cuda_minor > host.cuda_minor)) {
    return absl::StrCat("it is for CUDA ", variant.cuda_major, ".", variant.cuda_minor,
                        ", here is ", host.cuda_major, ".", host.cuda_minor);
  }
  return "";
}

// Smaller is better.
auto Preference(const PluginVariant& variant) {
  const int kind = variant.kind == PluginVariant::Kind::kNative           ? 0
                   : variant.kind == PluginVariant::Kind::kTorchStableAbi ? 1
                                                                          : 2;
  return std::tuple(kind, -variant.major, -variant.minor, variant.tagged, -variant.cuda_minor,
                    variant.folder);
}

}  // namespace

PluginHost ThisHost() {
  PluginHost host;
#if defined(__x86_64__)
  host.cpu = "x86_64";
#elif defined(__aarch64__)
  host.cpu = "aarch64";
#endif
  host.os = "linux";
  return host;
}

VariantChoice ChooseVariant(const std::vector<std::string>& folders, const PluginHost& host) {
  VariantChoice choice;
  for (const std::string& folder : folders) {
    PluginVariant variant;
    std::string reason = Parse(folder, variant);
    if (reason.empty()) reason = WhyNotFitting(variant, host);
    if (reason.empty()) {
      choice.fitting.push_back(std::move(variant));
    } else {
      absl::StrAppend(&choice.trace, choice.trace.empty() ? "" : "; ",
                      folder.substr(0, kLongestName), ": ", reason);
    }
  }
  std::sort(choice.fitting.begin(), choice.fitting.end(),
            [](const auto& a, const auto& b) { return Preference(a) < Preference(b); });
  return choice;
}

bool CoversCapability(const std::vector<std::string>& archs, int sm) {
  static const auto* const kArch = new std::regex("([0-9]{1,2})\\.([0-9])(a|f)?(\\+PTX)?");
  return std::any_of(archs.begin(), archs.end(), [&](const std::string& arch) {
    std::smatch match;
    if (!std::regex_match(arch, match, *kArch)) return false;
    const int own = Number(match[1]) * 10 + Number(match[2]);
    if (match[3] == "a") return sm == own;
    const bool family = sm / 10 == own / 10 && sm >= own;
    return family || (match[4].matched && sm >= own);
  });
}

}  // namespace reel::kernels
