// SPDX-License-Identifier: Apache-2.0
// The schedule of a flow-matching model: FlowMatchEulerDiscreteScheduler of diffusers 0.42.1, bit
// for bit, as the pipelines of LTX-Video and LTX-2 call it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/first_step.h"

namespace reel::model {

struct SchedulerConfig {
  int64_t num_train_timesteps = 1000;
  double shift = 1;
  bool use_dynamic_shifting = false;
  double base_shift = 0.5;
  double max_shift = 1.15;
  int64_t base_image_seq_len = 256;
  int64_t max_image_seq_len = 4096;
  std::optional<double> shift_terminal;
  bool exponential_shift = true;  // else linear
  bool stochastic_sampling = false;
};

// A folder's scheduler/scheduler_config.json. FAILED_PRECONDITION for sigma forms that LTX-Video
// and LTX-2 never use (Karras, exponential, beta, inverted).
absl::StatusOr<SchedulerConfig> LoadSchedulerConfig(const std::string& folder);

// Step i takes a sample from sigmas[i] to sigmas[i + 1]; the model gets timesteps[i].
struct Schedule {
  std::vector<float> timesteps;  // descending, of 0..1000
  std::vector<float> sigmas;     // one more, ends with 0

  int steps() const { return static_cast<int>(timesteps.size()); }
};

// For the text and image pipelines: evenly spaced, then shifted by the number of video tokens.
absl::StatusOr<Schedule> SpacedSchedule(const SchedulerConfig& config, int steps, int64_t tokens);

// For the condition pipeline: linear, then quadratic. FAILED_PRECONDITION with dynamic shifting, as
// in the reference.
absl::StatusOr<Schedule> LinearQuadraticSchedule(const SchedulerConfig& config, int steps);

// From given timesteps, which the model gets unchanged. INVALID_ARGUMENT unless they are finite, in
// 0..num_train_timesteps, and descending.
absl::StatusOr<Schedule> GivenSchedule(const SchedulerConfig& config,
                                       absl::Span<const double> timesteps);

// From given timesteps that stand for sigmas, as in LTX-2's pipelines: the model gets each sigma
// times num_train_timesteps, rounded anew. Errors as above.
absl::StatusOr<Schedule> GivenSigmaSchedule(const SchedulerConfig& config,
                                            absl::Span<const double> timesteps);

// The next sigma of a token at `sigma`: the greatest of the schedule's below it, else 0.
float NextSigma(const Schedule& schedule, float sigma);

// The exponent of the dynamic shift.
double ShiftOf(const SchedulerConfig& config, int64_t tokens);

}  // namespace reel::model
