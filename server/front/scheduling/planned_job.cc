// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/planned_job.h"

namespace reel::front {
namespace {

struct Row {
  Phase from;
  JobEvent event;
  PhaseChange change;
};

constexpr Row kChanges[] = {
    {Phase::kQueued, JobEvent::kPlaced, {Phase::kFetching, Release::kNothing}},
    {Phase::kFetching, JobEvent::kSent, {Phase::kAssigned, Release::kNothing}},
    {Phase::kFetching, JobEvent::kUnsent, {Phase::kQueued, Release::kNothing}},
    {Phase::kAssigned, JobEvent::kRendered, {Phase::kFinishing, Release::kNothing}},
    {Phase::kAssigned, JobEvent::kRestarted, {Phase::kQueued, Release::kNothing}},
    {Phase::kAssigned, JobEvent::kFailed, {Phase::kEnding, Release::kNothing}},
    {Phase::kFinishing, JobEvent::kSpoiled, {Phase::kEnding, Release::kNothing}},
    {Phase::kQueued, JobEvent::kEnded, {Phase::kEnding, Release::kNothing}},
    {Phase::kFetching, JobEvent::kEnded, {Phase::kEnding, Release::kTakeBack}},
    {Phase::kAssigned, JobEvent::kEnded, {Phase::kEnding, Release::kStop}},
};

}  // namespace

std::optional<PhaseChange> Next(Phase phase, JobEvent event) {
  for (const Row& row : kChanges) {
    if (row.from == phase && row.event == event) return row.change;
  }
  return std::nullopt;
}

}  // namespace reel::front
