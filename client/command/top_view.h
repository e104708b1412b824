// SPDX-License-Identifier: Apache-2.0
// The screen of `reel top`: workers, running jobs, and each kernel's share of the time. Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "reel/v1/server_service.pb.h"
#include "reel/v1/video_service.pb.h"

namespace reel::client {

// A variant's part of the device's time for some videos, text and decoding included.
struct KernelShare {
  std::string op, variant;  // no variant: "gaps" between operators
  int64_t calls = 0;        // timed ones
  absl::Duration timed;     // those calls together
  absl::Duration estimate;  // of all calls
  double share = 0;         // of all estimates; they sum to 1
};

// The largest first.
std::vector<KernelShare> KernelSharesOf(const std::vector<v1::Video>& videos);

struct TopView {
  std::string server;  // as the user named it
  v1::GetServerInfoResponse info;
  std::vector<v1::Video> jobs;      // queued and running
  bool more_jobs = false;           // than those
  std::vector<v1::Video> finished;  // some of the latest, with their statistics
};

// At most `rows` jobs (running ones first, then by their place in the queue) and `rows` variants.
std::string RenderTop(const TopView& view, size_t rows);
// The same for scripts, on one line: "server", "jobs", "kernels".
std::string TopJson(const TopView& view);

}  // namespace reel::client
