// SPDX-License-Identifier: Apache-2.0
// Parses folder names of a kernel repository ("torch211-cxx11-cu130-x86_64-linux") and chooses the
// one that fits this process, by name alone, as the Python package `kernels` does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reel::kernels {

// What a build must fit.
struct PluginHost {
  std::string cpu, os;  // "x86_64", "linux"
  // Version of libtorch; 0: this process has none, and no torch build fits.
  int torch_major = 0, torch_minor = 0;
  bool on_cuda = false;  // otherwise builds for a CPU
  int cuda_major = 0, cuda_minor = 0;
  int sm = 0;  // capability of the device, major * 10 + minor
};

// The processor and system that this was compiled for; the caller fills the rest.
PluginHost ThisHost();

struct BuildVariant {
  enum class Kind { kNative, kTorch, kTorchStableAbi };
  std::string folder;
  Kind kind = Kind::kTorch;
  // Needs torch, torch's stable ABI, or only Reel's own (plugin_v1.h).
  int major = 0, minor = 0;
  bool tagged = false, cxx11 = true;
  bool cuda = false;
  int cuda_major = 0, cuda_minor = 0;
  std::string cpu, os;
};

struct BuildChoice {
  std::vector<BuildVariant> fitting;  // best first
  std::string trace;                  // a reason for each folder that does not fit
};

// Looks at names only. Reel's native builds come first, then those with torch's stable ABI, newest
// first, then untagged, then tagged ones; the newest CUDA wins among equals.
BuildChoice ChooseBuilds(const std::vector<std::string>& folders, const PluginHost& host);

// Whether one of a build's architectures ("8.0", "9.0a", "9.0+PTX") covers a capability: X.Y covers
// the same major and any later minor, X.Ya only itself, PTX also anything later.
bool CoversCapability(const std::vector<std::string>& archs, int sm);

}  // namespace reel::kernels
