// SPDX-License-Identifier: Apache-2.0
#include "kernels/plugins/build_variant.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "kernels/plugins/plugin_v1.h"

namespace reel::kernels {
namespace {

constexpr size_t kLongestName = 128;

using Parts = std::vector<absl::string_view>;

// Parses digits; -1 for anything else.
int Number(absl::string_view digits) {
  int value = 0;
  const bool plain = !digits.empty() && digits.size() <= 4 &&
                     std::all_of(digits.begin(), digits.end(),
                                 [](unsigned char c) { return absl::ascii_isdigit(c); });
  return plain && absl::SimpleAtoi(digits, &value) ? value : -1;
}

// Parses "211" as 2 and 11, as torch's names have it.
bool ReadVersion(absl::string_view digits, BuildVariant& variant) {
  variant.major = Number(digits.substr(0, 1));
  variant.minor = digits.empty() ? -1 : Number(digits.substr(1));
  return variant.major >= 0 && variant.minor >= 0;
}

// Removes the parts that name the framework from the front.
bool ReadFramework(Parts& parts, BuildVariant& variant) {
  const auto take = [&](size_t count) {
    parts.erase(parts.begin(), parts.begin() + ptrdiff_t(count));
  };
  absl::string_view first = parts[0];
  if (absl::ConsumePrefix(&first, "reel")) {
    variant.kind = BuildVariant::Kind::kNative;
    variant.major = Number(first);
    take(1);
    return variant.major >= 0;
  }
  if (parts.size() > 2 && first == "torch" && parts[1] == "stable") {
    variant.kind = BuildVariant::Kind::kTorchStableAbi;
    absl::string_view version = parts[2];
    const bool legal = absl::ConsumePrefix(&version, "abi") && ReadVersion(version, variant);
    take(3);
    return legal;
  }
  if (!absl::ConsumePrefix(&first, "torch") || !ReadVersion(first, variant)) return false;
  take(1);
  variant.tagged = !parts.empty() && (parts[0] == "cxx11" || parts[0] == "cxx98");
  variant.cxx11 = !variant.tagged || parts[0] == "cxx11";
  if (variant.tagged) take(1);
  return true;
}

// Parses "cpu", or "cu130": the last digit is the minor version.
bool ReadBackend(absl::string_view backend, BuildVariant& variant) {
  if (backend == "cpu") return true;
  variant.cuda = absl::ConsumePrefix(&backend, "cu") && backend.size() >= 2;
  if (!variant.cuda) return false;
  variant.cuda_major = Number(backend.substr(0, backend.size() - 1));
  variant.cuda_minor = Number(backend.substr(backend.size() - 1));
  return variant.cuda_major >= 0 && variant.cuda_minor >= 0;
}

// Empty: `variant` is filled.
std::string Parse(const std::string& folder, BuildVariant& variant) {
  if (folder.size() > kLongestName) return "its name is too long";
  if (absl::StartsWith(folder, "torch-") && !absl::StartsWith(folder, "torch-stable-abi")) {
    return "it holds Python code, which this process does not run";
  }
  Parts parts = absl::StrSplit(folder, '-');
  if (!ReadFramework(parts, variant) || parts.size() != 3 || !ReadBackend(parts[0], variant)) {
    return "its name is none of a build";
  }
  variant.folder = folder;
  variant.cpu = std::string(parts[1]);
  variant.os = std::string(parts[2]);
  return "";
}

std::string WhyNotTorch(const BuildVariant& variant, const PluginHost& host) {
  const auto ours = std::tuple(host.torch_major, host.torch_minor);
  const auto theirs = std::tuple(variant.major, variant.minor);
  const std::string versions = absl::StrCat(variant.major, ".", variant.minor, ", here is ",
                                            host.torch_major, ".", host.torch_minor);
  if (host.torch_major == 0) return "it needs libtorch, which this build does not have";
  if (variant.kind == BuildVariant::Kind::kTorchStableAbi) {
    return theirs <= ours ? "" : absl::StrCat("it needs the stable ABI of torch ", versions);
  }
  if (theirs != ours) return absl::StrCat("it is for torch ", versions);
  return variant.cxx11 ? "" : "it has the old C++ ABI";
}

std::string WhyNotFitting(const BuildVariant& variant, const PluginHost& host) {
  if (variant.cpu != host.cpu || variant.os != host.os) {
    return absl::StrCat("it is for ", variant.cpu, "-", variant.os, ", here is ", host.cpu, "-",
                        host.os);
  }
  if (variant.kind != BuildVariant::Kind::kNative) {
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
auto Preference(const BuildVariant& variant) {
  const int kind = variant.kind == BuildVariant::Kind::kNative           ? 0
                   : variant.kind == BuildVariant::Kind::kTorchStableAbi ? 1
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

BuildChoice ChooseBuilds(const std::vector<std::string>& folders, const PluginHost& host) {
  BuildChoice choice;
  for (const std::string& folder : folders) {
    BuildVariant variant;
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
  return std::any_of(archs.begin(), archs.end(), [&](const std::string& text) {
    absl::string_view arch = text;
    const bool ptx = absl::ConsumeSuffix(&arch, "+PTX");
    const bool exact = absl::ConsumeSuffix(&arch, "a");
    if (!exact) absl::ConsumeSuffix(&arch, "f");
    const Parts parts = absl::StrSplit(arch, '.');
    if (parts.size() != 2 || parts[1].size() != 1) return false;
    const int major = Number(parts[0]), minor = Number(parts[1]);
    if (major < 0 || minor < 0) return false;
    const int own = major * 10 + minor;
    if (exact) return sm == own;
    return sm >= own && (ptx || sm / 10 == major);
  });
}

}  // namespace reel::kernels
