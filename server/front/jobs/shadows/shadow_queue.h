// SPDX-License-Identifier: Apache-2.0
// Videos of experiments that may be rendered again on the other arm: the configured share of those
// that succeeded, the latest first.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "server/front/jobs/video.h"
#include "server/front/scheduling/job_options.h"

namespace reel::front {

struct ShadowCandidate {
  std::string experiment;
  size_t arm = 0;                 // that it ran on, of two
  ExperimentArm other;            // that it is to run on
  std::string video;              // its id
  int attempt = 1;                // whose file it is
  std::string sha256;             // of that
  model::GenerationSpec spec;     // resolved
  std::string worker;             // whose device it ran on: pictures of another one may differ
  std::optional<double> seconds;  // of a step that it had for itself
  int given_up = 0;               // times
};

// Confined to the dispatcher's thread.
class ShadowQueue {
 public:
  static constexpr size_t kMost = 16;
  static constexpr int kMostTries = 3;
  static constexpr int kMostFailures = 3;  // in a row, before an experiment has no more of them

  explicit ShadowQueue(const std::vector<ExperimentOptions>& experiments)
      : experiments_(experiments) {}

  // A video reached its end. One that was given pictures is left out, since they are gone.
  void Ended(const Video& video);
  // The latest that `suits`.
  std::optional<ShadowCandidate> Take(absl::FunctionRef<bool(const ShadowCandidate&)> suits);
  // It was given up, and may have another try.
  void PutBack(ShadowCandidate candidate);
  // One of the experiment was rendered, or failed. True: too many have, and it has no more.
  bool NoteEnd(const std::string& experiment, bool failed);
  size_t size() const { return waiting_.size(); }

 private:
  void Add(ShadowCandidate candidate);

  const std::vector<ExperimentOptions> experiments_;
  std::deque<ShadowCandidate> waiting_;  // the latest first
  std::map<std::string, int> failures_;  // in a row, by experiment
};

}  // namespace reel::front
