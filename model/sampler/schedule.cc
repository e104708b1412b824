// SPDX-License-Identifier: Apache-2.0
// Every line mirrors the reference's types: numpy 2 keeps float32 arrays float32 beside Python's
// numbers, which are rounded to float32 first.
#include "model/sampler/schedule.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/weights/config_reader.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

constexpr float kSigmaTolerance = 1e-6f;
constexpr double kThresholdNoise = 0.025;  // the share of the linear part in linear-quadratic

void ShiftDynamically(const SchedulerConfig& config, double mu, std::vector<float>& sigmas) {
  const auto weight = static_cast<float>(config.exponential_shift ? std::exp(mu) : mu);
  for (float& s : sigmas) s = weight / (weight + (1.0f / s - 1.0f));
}

void ShiftStatically(const SchedulerConfig& config, std::vector<float>& sigmas) {
  const auto shift = static_cast<float>(config.shift);
  const auto less_one = static_cast<float>(config.shift - 1);
  for (float& s : sigmas) s = shift * s / (1.0f + less_one * s);
}

// Stretches the sigmas so that the last is the configured one.
void StretchToTerminal(const SchedulerConfig& config, std::vector<float>& sigmas) {
  if (!config.shift_terminal.has_value() || sigmas.empty()) return;
  const float factor = (1.0f - sigmas.back()) / static_cast<float>(1 - *config.shift_terminal);
  for (float& s : sigmas) s = 1.0f - (1.0f - s) / factor;
}

// A single step cannot both end at the terminal and begin at 1.
absl::Status CheckFinite(const Schedule& schedule) {
  for (const float s : schedule.sigmas) {
    if (!std::isfinite(s)) {
      return absl::InvalidArgumentError(absl::StrCat("the model's schedule needs more steps than ",
                                                     schedule.steps(), "; use at least 2"));
    }
  }
  return absl::OkStatus();
}

// From timesteps that the model gets unchanged.
absl::StatusOr<Schedule> FromTimesteps(const SchedulerConfig& config,
                                       std::vector<float> timesteps) {
  Schedule schedule;
  const auto train_steps = static_cast<float>(config.num_train_timesteps);
  for (const float t : timesteps) schedule.sigmas.push_back(t / train_steps);
  ShiftStatically(config, schedule.sigmas);
  StretchToTerminal(config, schedule.sigmas);
  schedule.sigmas.push_back(0);
  schedule.timesteps = std::move(timesteps);
  REEL_RETURN_IF_ERROR(CheckFinite(schedule));
  return schedule;
}

// From sigmas, unshifted, of which the model sees the times.
absl::StatusOr<Schedule> FromSigmas(const SchedulerConfig& config, double mu,
                                    std::vector<float> sigmas) {
  Schedule schedule;
  schedule.sigmas = std::move(sigmas);
  if (config.use_dynamic_shifting) {
    ShiftDynamically(config, mu, schedule.sigmas);
  } else {
    ShiftStatically(config, schedule.sigmas);
  }
  StretchToTerminal(config, schedule.sigmas);
  for (const float s : schedule.sigmas) {
    schedule.timesteps.push_back(s * static_cast<float>(config.num_train_timesteps));
  }
  schedule.sigmas.push_back(0);
  REEL_RETURN_IF_ERROR(CheckFinite(schedule));
  return schedule;
}

absl::Status CheckStaticShift(const SchedulerConfig& config) {
  if (!config.use_dynamic_shifting) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the model's schedule depends on the number of tokens, so it cannot be combined with "
      "conditions "
      "or timesteps");
}

// Timesteps that a request gives, if they make a schedule.
absl::StatusOr<std::vector<float>> CheckedTimesteps(const SchedulerConfig& config,
                                                    absl::Span<const double> timesteps) {
  REEL_RETURN_IF_ERROR(CheckStaticShift(config));
  std::vector<float> values;
  for (const double t : timesteps) {
    if (!(t >= 0 && t <= static_cast<double>(config.num_train_timesteps))) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a timestep is out of range: ", t, ", the range is 0 to ", config.num_train_timesteps));
    }
    if (!values.empty() && static_cast<float>(t) >= values.back()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the timesteps must descend: ", t, " comes after ", values.back()));
    }
    values.push_back(static_cast<float>(t));
  }
  if (values.empty()) return absl::InvalidArgumentError("the list of timesteps is empty");
  return values;
}

}  // namespace

absl::StatusOr<SchedulerConfig> LoadSchedulerConfig(const std::string& folder) {
  const std::string path = folder + "/scheduler_config.json";
  REEL_ASSIGN_OR_RETURN(const nlohmann::json json, ReadJsonFile(path));
  ConfigReader reader(json, path);
  SchedulerConfig config;
  config.num_train_timesteps = reader.Int("num_train_timesteps", 1000, {1, 1'000'000});
  config.shift = reader.Number("shift", 1);
  config.use_dynamic_shifting = reader.Bool("use_dynamic_shifting", false);
  config.base_shift = reader.Number("base_shift", 0.5);
  config.max_shift = reader.Number("max_shift", 1.15);
  config.base_image_seq_len = reader.Int("base_image_seq_len", 256, {0, 1 << 30});
  config.max_image_seq_len = reader.Int("max_image_seq_len", 4096, {1, 1 << 30});
  const double terminal = reader.Number("shift_terminal", 0);
  if (terminal != 0) config.shift_terminal = terminal;
  const std::string type = reader.String("time_shift_type", "exponential");
  config.exponential_shift = type == "exponential";
  config.stochastic_sampling = reader.Bool("stochastic_sampling", false);
  if (!config.exponential_shift && type != "linear") {
    reader.Fail("time_shift_type", "must be exponential or linear");
  }
  if (config.shift <= 0) reader.Fail("shift", "must be above 0");
  if (terminal < 0 || terminal >= 1) reader.Fail("shift_terminal", "must be in [0, 1)");
  if (config.max_image_seq_len == config.base_image_seq_len) {
    reader.Fail("max_image_seq_len", "must differ from base_image_seq_len");
  }
  for (const char* key :
       {"invert_sigmas", "use_karras_sigmas", "use_exponential_sigmas", "use_beta_sigmas"}) {
    reader.Only(key, false);
  }
  REEL_RETURN_IF_ERROR(reader.status());
  return config;
}

double ShiftOf(const SchedulerConfig& config, int64_t tokens) {
  const double slope = (config.max_shift - config.base_shift) /
                       static_cast<double>(config.max_image_seq_len - config.base_image_seq_len);
  const double offset = config.base_shift - slope * static_cast<double>(config.base_image_seq_len);
  return static_cast<double>(tokens) * slope + offset;
}

absl::StatusOr<Schedule> SpacedSchedule(const SchedulerConfig& config, int steps, int64_t tokens) {
  if (steps < 1) return absl::InvalidArgumentError("the number of steps must be at least 1");
  std::vector<float> sigmas;
  const double last = 1.0 / steps;
  const double stride = steps == 1 ? 0 : (last - 1.0) / (steps - 1);
  for (int i = 0; i < steps; ++i) {
    const bool at_end = i == steps - 1 && steps > 1;
    sigmas.push_back(static_cast<float>(at_end ? last : i * stride + 1.0));
  }
  return FromSigmas(config, ShiftOf(config, tokens), std::move(sigmas));
}

absl::StatusOr<Schedule> LinearQuadraticSchedule(const SchedulerConfig& config, int steps) {
  if (steps < 1) return absl::InvalidArgumentError("the number of steps must be at least 1");
  REEL_RETURN_IF_ERROR(CheckStaticShift(config));
  std::vector<float> timesteps = {1000.0f};
  if (steps >= 2) {
    timesteps.clear();
    const double n = steps;
    const double linear_steps = steps / 2;
    const double rest = n - linear_steps;
    const double difference = linear_steps - kThresholdNoise * n;
    const double quadratic = difference / (linear_steps * (rest * rest));
    const double linear = kThresholdNoise / linear_steps - 2 * difference / (rest * rest);
    const double constant = quadratic * (linear_steps * linear_steps);
    for (int i = 0; i < steps; ++i) {
      const double x = i;
      const double noise = x < linear_steps ? x * kThresholdNoise / linear_steps
                                            : quadratic * (x * x) + linear * x + constant;
      timesteps.push_back(static_cast<float>(1.0 - noise) * 1000.0f);
    }
  }
  return FromTimesteps(config, std::move(timesteps));
}

absl::StatusOr<Schedule> GivenSchedule(const SchedulerConfig& config,
                                       absl::Span<const double> timesteps) {
  REEL_ASSIGN_OR_RETURN(std::vector<float> values, CheckedTimesteps(config, timesteps));
  return FromTimesteps(config, std::move(values));
}

absl::StatusOr<Schedule> GivenSigmaSchedule(const SchedulerConfig& config,
                                            absl::Span<const double> timesteps) {
  REEL_ASSIGN_OR_RETURN(std::vector<float> values, CheckedTimesteps(config, timesteps));
  for (float& t : values) t /= static_cast<float>(config.num_train_timesteps);
  return FromSigmas(config, 0, std::move(values));
}

float NextSigma(const Schedule& schedule, float sigma) {
  float next = 0;
  for (const float candidate : schedule.sigmas) {
    if (candidate < sigma - kSigmaTolerance) next = std::max(next, candidate);
  }
  return next;
}

}  // namespace reel::model
