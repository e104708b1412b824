// SPDX-License-Identifier: Apache-2.0
// The folders of a kernel repository by their names ("torch211-cxx11-cu130-x86_64-linux"), and the
// choice of the one that fits this process: as the Python package `kernels` chooses, and by name
// alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reel::kernels {

// What a build must fit.
struct PluginHost {
  std::string cpu, os;  // "x86_64", "linux"
  // Of libtorch; 0: this process has none, and no torch build fits.
  int torch_major = 0, torch_minor = 0;
  bool on_cuda = false;  // else the CPU's builds are asked for
  int cuda_major = 0, cuda_minor = 0;
  int sm = 0;  // of the device, major * 10 + minor
};

// The processor and system that this was compiled for; the rest is the caller's.
PluginHost ThisHost();

struct BuildVariant {
  enum class Kind { kNative, kTorch, kTorchStableAbi };
  std::string folder;
  Kind kind = Kind::kTorch;
  // Of torch, of its stable ABI, or of Reel's own (plugin_v1.h).
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

// Looks at names only. Reel's native builds come first, then those of torch's stable ABI, newest
// first, then untagged, then tagged ones; among equals the newest CUDA.
BuildChoice ChooseBuilds(const std::vector<std::string>& folders, const PluginHost& host);

// Whether one of a build's architectures ("8.0", "9.0a", "9.0+PTX") covers a capability: X.Y the
// same major and no later minor, X.Ya that one alone, with PTX anything later too.
bool CoversCapability(const std::vector<std::string>& archs, int sm);

}  // namespace reel::kernels
