// SPDX-License-Identifier: Apache-2.0
// A process's operators as plain data, for ListKernels and for checking a plan in another process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace reel::kernels {

struct VariantListing {
  std::string name;    // e.g. "sm90"
  std::string origin;  // "built-in", "framework" or the name of a plug-in
  bool runs = false;   // on the device of the process that lists it
  bool is_auto = false;
  std::string reason;  // why it cannot
  // Those of "fp16", "bf16" and "fp32" that it computes in; empty: not told.
  std::vector<std::string> dtypes = {};
  bool is_lossy = false;        // brought by a lossy profile alone (kernel_profiles.h)
  bool for_some_sizes = false;  // which "auto" gives it; the others run what is marked
};

struct OpListing {
  std::string op;                        // e.g. "rms_norm"
  std::vector<VariantListing> variants;  // best first
};

// How a plug-in of the configuration fared.
struct PluginListing {
  std::string name;
  bool loaded = false;
  std::string reason;  // why not, or what of it is not used
  std::string id;      // of the build that was opened

  bool operator==(const PluginListing&) const = default;
};

// One operator as a model calls it.
struct KernelCall {
  std::string op;
  std::string dtype;  // e.g. "bf16"
  int64_t width = 0;  // row width
};

// What ran, counted over all steps, and timed on the sampled ones.
struct VariantUse {
  std::string op;
  std::string variant;
  int64_t calls = 0;
  bool is_lossy = false;  // as in VariantListing; set in what is told to others
};
struct VariantTime {
  std::string op;
  std::string variant;
  int64_t calls = 0;
  int64_t total_ns = 0;
};

}  // namespace reel::kernels
