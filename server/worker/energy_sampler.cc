// SPDX-License-Identifier: Apache-2.0
#include "server/worker/energy_sampler.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace reel::worker {
namespace {

absl::Duration SteadyMoment() {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace

int64_t EnergyAt(const EnergySample& before, const EnergySample& last, absl::Duration now) {
  const absl::Duration between = last.at - before.at;
  if (between <= absl::ZeroDuration() || now <= last.at) return last.millijoules;
  const double share = absl::FDivDuration(now - last.at, between);
  const auto taken = static_cast<double>(last.millijoules - before.millijoules);
  return last.millijoules + static_cast<int64_t>(share * taken);
}

absl::Duration PauseAfter(absl::Duration reading, absl::Duration every) {
  constexpr int kShare = 20;
  return std::max(every, kShare * reading);
}

EnergySampler::EnergySampler(EnergyReader reader, absl::Duration every)
    : reader_(std::move(reader)), every_(every) {
  Read();
  thread_ = std::thread([this] { Loop(); });
}

EnergySampler::~EnergySampler() {
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void EnergySampler::Read() {
  const absl::Duration began = SteadyMoment();
  const std::optional<int64_t> read = reader_();
  const absl::Duration now = SteadyMoment();
  const MutexLock lock(mutex_);
  pause_ = PauseAfter(now - began, every_);
  if (!read) return;
  // A reloaded driver starts counting from 0.
  const bool anew = last_ && *read < last_->millijoules;
  before_ = anew ? std::nullopt : last_;
  last_ = EnergySample{*read, now};
  if (anew) told_ = 0;
}

void EnergySampler::Loop() {
  while (true) {
    {
      const MutexLock lock(mutex_);
      if (!stopped_) changed_.WaitFor(mutex_, pause_);
      if (stopped_) return;
    }
    Read();
  }
}

std::optional<int64_t> EnergySampler::Now() {
  const absl::Duration now = SteadyMoment();
  const MutexLock lock(mutex_);
  if (!last_) return std::nullopt;
  told_ = std::max(told_, before_ ? EnergyAt(*before_, *last_, now) : last_->millijoules);
  return told_;
}

EnergyReader Sampled(EnergyReader reader, absl::Duration every) {
  if (reader == nullptr) return nullptr;
  return [sampler = std::make_shared<EnergySampler>(std::move(reader), every)] {
    return sampler->Now();
  };
}

}  // namespace reel::worker
