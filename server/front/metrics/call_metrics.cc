// SPDX-License-Identifier: Apache-2.0
#include "server/front/metrics/call_metrics.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "server/front/metrics/families.h"

namespace reel::front {
namespace {

constexpr size_t kMaxRequestSeries = 200;
// A refused request was not resolved, so that its profile is not known.
constexpr char kNoProfile[] = "none";

// What a request can be turned away for; the others are ends of jobs.
bool IsRefusal(Reason reason) { return reason < Reason::kDeadlinePassed; }

}  // namespace

RefusalMetrics::RefusalMetrics(prometheus::Registry& registry,
                               const std::vector<std::string>& profiles,
                               prometheus::Family<prometheus::Counter>& dropped)
    : requests_(
          CounterFamily(registry, "reel_requests_total", "Requests for a video by their end."),
          kMaxRequestSeries, dropped),
      rejections_(CounterFamily(registry, "reel_rejections_total",
                                "Requests that were refused, by reason.")) {
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

namespace {

using prometheus::Labels;
using prometheus::Registry;

constexpr const char* kCodeNames[] = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

// What every call can end with; other codes get their series when they first appear.
constexpr absl::StatusCode kUsualCodes[] = {absl::StatusCode::kOk,
                                            absl::StatusCode::kCancelled,
                                            absl::StatusCode::kInternal,
                                            absl::StatusCode::kInvalidArgument,
                                            absl::StatusCode::kUnavailable,
                                            absl::StatusCode::kUnauthenticated,
                                            absl::StatusCode::kPermissionDenied};

Labels LabelsOf(const MethodRow& row) {
  return {{"grpc_type", row.streams ? "server_stream" : "unary"},
          {"grpc_service", std::string(row.service)},
          {"grpc_method", std::string(row.name)}};
}

Labels WithCode(Labels labels, size_t code) {
  labels["grpc_code"] = kCodeNames[code];
  return labels;
}

}  // namespace

CallMetrics::CallMetrics(Registry& registry, RefusalMetrics& refusals)
    : refusals_(refusals),
      handled_(CounterFamily(registry, "grpc_server_handled_total", "Calls that ended, by code.")),
      open_streams_(
          GaugeFamily(registry, "reel_open_streams", "Server streams that are open.").Add({})),
      buffered_(GaugeFamily(registry, "reel_stream_buffered_bytes",
                            "Bytes in writes that readers have not taken yet.")
                    .Add({})),
      first_event_(HistogramFamily(registry, "reel_first_event_duration_seconds",
                                   "From a GenerateVideo call to its first event.")
                       .Add({}, buckets::Event())),
      first_chunk_(HistogramFamily(registry, "reel_first_chunk_duration_seconds",
                                   "From a GenerateVideo call to its first bytes.")
                       .Add({}, buckets::Video())),
      previews_(CounterFamily(registry, "reel_previews_total", "Previews sent.").Add({})),
      slow_cuts_(CounterFamily(registry, "reel_slow_client_cuts_total",
                               "Streams broken off since their reader took nothing.")
                     .Add({})) {
  AddMethods(registry);
}

void CallMetrics::AddMethods(Registry& registry) {
  auto& started = CounterFamily(registry, "grpc_server_started_total", "Calls that began.");
  auto& received = CounterFamily(registry, "grpc_server_msg_received_total", "Messages received.");
  auto& sent = CounterFamily(registry, "grpc_server_msg_sent_total", "Messages sent.");
  auto& handling = HistogramFamily(registry, "grpc_server_handling_seconds", "Duration of calls.");
  for (const MethodRow& row : AllMethods()) {
    const Labels labels = LabelsOf(row);
    MethodSeries series;
    series.started = &started.Add(labels);
    series.received = &received.Add(labels);
    series.sent = &sent.Add(labels);
    for (const absl::StatusCode code : kUsualCodes) {
      const auto index = static_cast<size_t>(code);
      series.handled[index] = &handled_.Add(WithCode(labels, index));
    }
    if (row.measured) series.handling = &handling.Add(labels, buckets::Call());
    methods_.push_back(series);
  }
}

void CallMetrics::CallEnded(Method method, absl::StatusCode code, absl::Duration took) {
  const size_t index = std::min(static_cast<size_t>(code), kCodes - 1);
  prometheus::Counter* known = Of(method).handled[index];
  // The table is not written to after the start: the family finds rare ones.
  if (known == nullptr) known = &handled_.Add(WithCode(LabelsOf(RowOf(method)), index));
  known->Increment();
  if (Of(method).handling != nullptr) Of(method).handling->Observe(absl::ToDoubleSeconds(took));
}

DoorMetrics::DoorMetrics(prometheus::Registry& registry)
    : requests_(CounterFamily(registry, "reel_http_requests_total",
                              "Requests of the HTTP door by route and status; 0: broken off.")),
      duration_(HistogramFamily(registry, "reel_http_request_duration_seconds",
                                "From a request's head to the end of its reply, streams included.")
                    .Add({}, buckets::Call())),
      connections_(
          GaugeFamily(registry, "reel_http_connections", "Open connections of the HTTP door.")
              .Add({})) {
  auto& cuts =
      CounterFamily(registry, "reel_http_cuts_total",
                    "Connections of the HTTP door that were cut, by the limit they reached.");
  const std::array<const char*, kCuts> reasons = {"header", "body", "stall", "idle", "limit"};
  for (size_t i = 0; i < kCuts; ++i) cuts_[i] = &cuts.Add({{"reason", reasons[i]}});
}

void DoorMetrics::RequestEnded(std::string_view route, int status, absl::Duration took) {
  requests_.Add({{"route", std::string(route)}, {"code", absl::StrCat(status)}}).Increment();
  duration_.Observe(absl::ToDoubleSeconds(took));
}

}  // namespace reel::front
