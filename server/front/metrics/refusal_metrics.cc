// SPDX-License-Identifier: Apache-2.0
#include "server/front/metrics/refusal_metrics.h"

#include "server/errors/error.h"

namespace reel::front {
namespace {

constexpr size_t kMaxRequestSeries = 200;
// A refused request was not resolved, so that its profile is not known.
constexpr char kNoProfile[] = "none";

prometheus::Family<prometheus::Counter>& Counter(prometheus::Registry& registry, const char* name,
                                                 const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

// What a request can be turned away for; the others are ends of jobs.
bool IsRefusal(Reason reason) { return reason < Reason::kDeadlinePassed; }

}  // namespace

RefusalMetrics::RefusalMetrics(prometheus::Registry& registry,
                               const std::vector<std::string>& profiles,
                               prometheus::Family<prometheus::Counter>& dropped)
    : requests_(Counter(registry, "reel_requests_total", "Requests for a video by their end."),
                kMaxRequestSeries, dropped.Add({{"family", "reel_requests_total"}})),
      rejections_(
          Counter(registry, "reel_rejections_total", "Requests that were refused, by reason.")) {
  for (const char* mode : {"stream", "async"}) {
    for (const char* outcome : {"rejected", "invalid"}) {
      requests_.Get({{"mode", mode}, {"profile", kNoProfile}, {"outcome", outcome}});
    }
    for (const std::string& profile : profiles) {
      for (const char* outcome : {"ok", "cancelled", "deadline", "failed"}) {
        requests_.Get({{"mode", mode}, {"profile", profile}, {"outcome", outcome}});
      }
    }
  }
  for (const ReasonRow& row : AllReasons()) {
    if (IsRefusal(row.reason)) rejections_.Add({{"reason", std::string(row.name)}});
  }
}

void RefusalMetrics::Refused(const absl::Status& why, bool detached) {
  const Reason reason = ReasonOf(why).value_or(Reason::kInternal);
  rejections_.Add({{"reason", std::string(Describe(reason).name)}}).Increment();
  const bool invalid = absl::IsInvalidArgument(why) || absl::IsNotFound(why);
  Ended(detached, kNoProfile, invalid ? "invalid" : "rejected");
}

void RefusalMetrics::Ended(bool detached, const std::string& profile, const std::string& outcome) {
  requests_.Get({{"mode", ModeName(detached)}, {"profile", profile}, {"outcome", outcome}})
      .Increment();
}

}  // namespace reel::front
