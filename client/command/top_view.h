// SPDX-License-Identifier: Apache-2.0
// Renders the screen of `reel top`: workers, running jobs, and each kernel's share of the time.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "reel/v1/server_service.pb.h"
#include "reel/v1/video_service.pb.h"

namespace reel::client {

// One variant's share of the device time of some videos, text and decoding included.
struct KernelShare {
  std::string op, variant;  // no variant: "gaps" between operators
  int64_t calls = 0;        // timed calls
  absl::Duration timed;     // their time
  absl::Duration estimate;  // estimate for all calls
  double share = 0;         // share of all estimates, which sum to 1
};

// The largest share first.
std::vector<KernelShare> KernelSharesOf(const std::vector<v1::Video>& videos);

struct TopView {
  std::string server;  // as the user wrote it
  v1::GetServerInfoResponse info;
  std::vector<v1::Video> jobs;      // queued and running
  bool more_jobs = false;           // more than these exist
  std::vector<v1::Video> finished;  // some recent ones, with their statistics
};

// At most `rows` jobs (running ones first, then by queue position) and `rows` variants.
std::string RenderTop(const TopView& view, size_t rows);
// The same as one line of JSON: "server", "jobs", "kernels".
std::string TopJson(const TopView& view);

}  // namespace reel::client
