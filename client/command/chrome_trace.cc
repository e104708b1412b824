// SPDX-License-Identifier: Apache-2.0
#include "client/command/chrome_trace.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/command/bill_text.h"
#include "client/command/json_output.h"
#include "client/command/quantity.h"

namespace reel::client {
namespace {

enum Track { kRequestTrack = 1, kDeviceTrack = 2 };

class Trace {
 public:
  void Name(Track track, const std::string& name) {
    Add(absl::StrFormat(R"({"ph":"M","pid":1,"tid":%d,"name":"thread_name","args":{"name":%s}})",
                        track, JsonString(name)));
  }
  // `args`: the members of a JSON object.
  void Span(Track track, const std::string& name, absl::Duration start, absl::Duration length,
            const std::string& args = "") {
    Add(absl::StrFormat(R"({"ph":"X","pid":1,"tid":%d,"name":%s,"ts":%.3f,"dur":%.3f,"args":{%s}})",
                        track, JsonString(name), absl::ToDoubleMicroseconds(start),
                        absl::ToDoubleMicroseconds(length), args));
  }
  std::string Json() const {
    return absl::StrCat("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", events_, "\n]}\n");
  }

 private:
  void Add(const std::string& event) {
    absl::StrAppend(&events_, events_.empty() ? "" : ",\n", event);
  }
  std::string events_;
};

void AddPart(const v1::PartSpan& span, Trace& trace) {
  const bool is_step = span.step() > 0;
  const std::string name = is_step ? absl::StrCat("step ", span.step()) : PartName(span.part());
  const std::string args = is_step ? absl::StrFormat(R"("videos":%d,"timed":%s)", span.jobs(),
                                                     span.timed() ? "true" : "false")
                                   : "";
  trace.Span(kRequestTrack, name, FromProto(span.start()), FromProto(span.duration()), args);
}

// Each timed piece gets its share of the operators' time in its part.
void AddOperators(const v1::RunStats& stats, Trace& trace) {
  std::map<v1::RunPart, absl::Duration> timed;
  for (const v1::PartSpan& span : stats.spans()) {
    if (span.timed()) timed[span.part()] += FromProto(span.duration());
  }
  for (const v1::PartSpan& span : stats.spans()) {
    const absl::Duration all = timed[span.part()];
    if (!span.timed() || all <= absl::ZeroDuration()) continue;
    const double share = absl::FDivDuration(FromProto(span.duration()), all);
    absl::Duration start = FromProto(span.start());
    const absl::Duration end = start + FromProto(span.duration());
    for (const v1::OperatorCost& cost : stats.operators()) {
      if (cost.part() != span.part() || cost.variant().empty()) continue;
      const absl::Duration length = std::min(FromProto(cost.timed()) * share, end - start);
      const std::string args =
          absl::StrFormat(R"("variant":%s,"calls":%.1f,"together":true)",
                          JsonString(cost.variant()), static_cast<double>(cost.calls()) * share);
      trace.Span(kDeviceTrack, cost.op(), start, length, args);
      start += length;
    }
  }
}

}  // namespace

std::string ChromeTrace(const v1::Video& video, absl::Duration until_end) {
  const v1::RunStats& stats = video.stats();
  const absl::Duration total = FromProto(stats.total());
  const absl::Duration delivery = std::max(until_end - total, absl::ZeroDuration());
  Trace trace;
  trace.Name(kRequestTrack, video.name());
  trace.Name(kDeviceTrack, "operators of timed pieces, " + stats.device());
  trace.Span(kRequestTrack, "request", absl::ZeroDuration(), total + delivery,
             absl::StrFormat(R"("model":%s,"trace_id":%s)", JsonString(video.spec().model()),
                             JsonString(video.trace_id())));
  for (const v1::PartSpan& span : stats.spans()) AddPart(span, trace);
  if (delivery > absl::ZeroDuration()) trace.Span(kRequestTrack, "delivery", total, delivery);
  AddOperators(stats, trace);
  return trace.Json();
}

}  // namespace reel::client
