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
  bool runs = false;   // on the device of the listing process
  bool is_auto = false;
  std::string reason;  // why it cannot run
  // The types of "fp16", "bf16" and "fp32" that it computes in; empty: unknown.
  std::vector<std::string> dtypes = {};
  bool is_lossy = false;        // only a lossy profile selects it (kernel_profiles.h)
  bool for_some_sizes = false;  // which "auto" gives it; the others run what is marked
};

struct OpListing {
  std::string op;                        // e.g. "rms_norm"
  std::vector<VariantListing> variants;  // best first
};

// Whether a configured plug-in was opened.
struct PluginListing {
  std::string name;
  bool loaded = false;
  std::string reason;  // the reason, or the unused parts
  std::string id;      // of the opened build

  bool operator==(const PluginListing&) const = default;
};

// One operator as a model calls it.
struct KernelCall {
  std::string op;
  std::string dtype;  // e.g. "bf16"
  int64_t width = 0;  // row width
};

// What ran: counted over all steps, timed on sampled ones.
struct VariantUse {
  std::string op;
  std::string variant;
  int64_t calls = 0;
  bool is_lossy = false;  // as in VariantListing; set for reports
};
struct VariantTime {
  std::string op;
  std::string variant;
  int64_t calls = 0;
  int64_t total_ns = 0;
};

}  // namespace reel::kernels
