// SPDX-License-Identifier: Apache-2.0
// Converts durations between abseil and protobuf.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"

namespace reel {

// Longer durations are cut to protobuf's limit, about 10,000 years.
inline void SetProtoDuration(google::protobuf::Duration& out, absl::Duration value) {
  const absl::Duration longest = absl::Seconds(int64_t{315'576'000'000});
  value = std::clamp(value, -longest, longest);
  absl::Duration rest;
  out.set_seconds(absl::IDivDuration(value, absl::Seconds(1), &rest));
  out.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(rest)));
}

// Whether protobuf allows it: at most 10,000 years, less than a second of nanoseconds, and one
// sign.
inline bool IsLegalProtoDuration(const google::protobuf::Duration& proto) {
  constexpr int64_t kLongest = 315'576'000'000;
  if (proto.seconds() < -kLongest || proto.seconds() > kLongest) return false;
  if (proto.nanos() < -999'999'999 || proto.nanos() > 999'999'999) return false;
  return proto.seconds() == 0 || proto.nanos() == 0 || (proto.seconds() < 0) == (proto.nanos() < 0);
}

inline absl::Duration FromProtoDuration(const google::protobuf::Duration& proto) {
  return absl::Seconds(proto.seconds()) + absl::Nanoseconds(proto.nanos());
}

}  // namespace reel
