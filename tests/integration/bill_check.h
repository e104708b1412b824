// SPDX-License-Identifier: Apache-2.0
// Checks that a video's bill adds up.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "absl/time/time.h"
#include "reel/v1/video.pb.h"
#include "server/convert/proto_duration.h"

namespace reel::tests {

// A video's parts against its total, and against the times of its card, which another clock has
// told: the largest error as a share of the total. Nothing here depends on how fast anything was.
struct BillCheck {
  double error = 0;
  bool fits = false;
};
inline BillCheck CheckBill(const v1::Video& video) {
  const v1::RunStats& stats = video.stats();
  const auto at = [](const google::protobuf::Timestamp& time) {
    return absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
  };
  const absl::Duration total = FromProtoDuration(stats.total());
  absl::Duration sum, in_spans;
  std::map<v1::RunPart, absl::Duration> parts;
  for (const v1::PartTime& part : stats.parts()) {
    sum += FromProtoDuration(part.time());
    parts[part.part()] += FromProtoDuration(part.time());
  }
  // Stretches follow one another, and are all but the waiting and what was on its way.
  absl::Duration end;
  for (const v1::PartSpan& span : stats.spans()) {
    const absl::Duration start = FromProtoDuration(span.start());
    EXPECT_GE(start, end - absl::Microseconds(1)) << v1::RunPart_Name(span.part());
    end = start + FromProtoDuration(span.duration());
    in_spans += FromProtoDuration(span.duration());
  }
  EXPECT_LE(end, total + absl::Microseconds(1));
  EXPECT_LE(in_spans, sum + absl::Microseconds(1));
  EXPECT_GE(in_spans + parts[v1::RUN_PART_WAIT] + parts[v1::RUN_PART_HANDOVER],
            sum - absl::Microseconds(1));
  const absl::Duration wall = at(video.end_time()) - at(video.create_time());
  const absl::Duration error =
      std::max(absl::AbsDuration(sum - total), absl::AbsDuration(sum - wall));
  // The two clocks are read one after the other, and a busy machine may run others in between.
  return {absl::FDivDuration(error, std::max(total, absl::Nanoseconds(1))),
          error <= total * 0.02 + absl::Milliseconds(50)};
}

}  // namespace reel::tests
