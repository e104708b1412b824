// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/row_event.h"

namespace reel::front {
namespace {

struct Change {
  JobRow& row;

  void operator()(const RowStarted&) const { row.state = VideoState::kRunning; }
  void operator()(const RowRestarted& event) const {
    row.attempt = event.restart.attempt;
    row.state = VideoState::kQueued;
    row.restarts.push_back(event.restart);
  }
  void operator()(const RowSucceeded& event) const {
    row.state = VideoState::kSucceeded;
    row.expire_time = event.expire_time;
    row.num_conditions = 0;
    row.media_bytes = event.media_bytes;
    row.fragment_ends = event.fragment_ends;
    row.block_sums = event.block_sums;
    row.last_sequence = event.sequence;
  }
  void operator()(const RowFailed& event) const {
    row.state = event.state;
    row.expire_time = event.expire_time;
    row.num_conditions = 0;
    row.media_bytes = 0;
    row.fragment_ends.clear();
    row.block_sums.clear();
    row.last_sequence = 0;
  }
};

}  // namespace

void Apply(const RowEvent& event, JobRow& row) { std::visit(Change{row}, event); }

}  // namespace reel::front
