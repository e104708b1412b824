// SPDX-License-Identifier: Apache-2.0
#include "server/front/traces/otlp.h"

#include <zlib.h>

#include <algorithm>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace reel::front {
namespace {

using Json = nlohmann::json;

// Of opentelemetry-proto's SpanKind and StatusCode.
constexpr int kInternal = 1, kServer = 2;
constexpr int kOk = 1, kError = 2;
constexpr size_t kMostMessage = 200;

// JSON has no 64-bit numbers: protobuf writes them as text.
std::string Nanoseconds(absl::Time time) { return absl::StrCat(absl::ToUnixNanos(time)); }

struct ValueJson {
  Json operator()(const std::string& value) const { return {{"stringValue", value}}; }
  Json operator()(int64_t value) const { return {{"intValue", absl::StrCat(value)}}; }
  Json operator()(double value) const { return {{"doubleValue", value}}; }
  Json operator()(bool value) const { return {{"boolValue", value}}; }
};

Json AttributesJson(const Attributes& attributes) {
  Json out = Json::array();
  for (const Attribute& attribute : attributes) {
    out.push_back({{"key", attribute.key}, {"value", std::visit(ValueJson(), attribute.value)}});
  }
  return out;
}

Json SpanJson(const Span& span) {
  Json json = {{"traceId", span.trace_id},
               {"spanId", span.id},
               {"name", span.name},
               {"kind", span.at_the_door ? kServer : kInternal},
               {"startTimeUnixNano", Nanoseconds(span.start)},
               {"endTimeUnixNano", Nanoseconds(span.end)},
               {"attributes", AttributesJson(span.attributes)}};
  if (!span.parent.empty()) json["parentSpanId"] = span.parent;
  for (const SpanEvent& event : span.events) {
    json["events"].push_back({{"timeUnixNano", Nanoseconds(event.time)},
                              {"name", event.name},
                              {"attributes", AttributesJson(event.attributes)}});
  }
  if (!span.error.empty()) {
    json["status"] = {{"code", kError}, {"message", span.error}};
  } else if (span.at_the_door) {
    json["status"] = {{"code", kOk}};
  }
  return json;
}

}  // namespace

std::string OtlpJson(const std::vector<Trace>& traces, const TraceResource& resource) {
  Attributes about = {{"service.name", std::string("reel")}, {"service.version", resource.version}};
  if (!resource.instance.empty()) about.push_back({"service.instance.id", resource.instance});
  Json spans = Json::array();
  for (const Trace& trace : traces) {
    for (const Span& span : trace) spans.push_back(SpanJson(span));
  }
  Json scope, part, body;
  scope["scope"] = {{"name", "reel"}, {"version", resource.version}};
  scope["spans"] = std::move(spans);
  part["resource"]["attributes"] = AttributesJson(about);
  part["scopeSpans"].push_back(std::move(scope));
  body["resourceSpans"].push_back(std::move(part));
  // Names of models and arms are the configuration's; bytes that are no UTF-8 must not end us.
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

OtlpReply ReadOtlpReply(const std::string& text) {
  const Json reply = Json::parse(text, nullptr, false);
  if (!reply.is_object()) return {};
  const auto found = reply.find("partialSuccess");
  if (found == reply.end() || !found->is_object()) return {};
  OtlpReply out;
  const Json rejected = found->value("rejectedSpans", Json());
  if (rejected.is_number_integer()) out.rejected_spans = rejected.get<int64_t>();
  // JSON has no 64-bit numbers: protobuf writes them as text.
  if (rejected.is_string() &&
      !absl::SimpleAtoi(rejected.get_ref<const std::string&>(), &out.rejected_spans)) {
    out.rejected_spans = 0;
  }
  out.rejected_spans = std::max<int64_t>(out.rejected_spans, 0);
  const Json message = found->value("errorMessage", Json());
  if (message.is_string()) out.message = message.get<std::string>().substr(0, kMostMessage);
  return out;
}

namespace {

// JSON of spans repeats its names: more effort than the least gains little.
constexpr int kEffort = Z_BEST_SPEED;
constexpr int kWindowBits = 15 + 16;  // 16: with gzip's head and end
constexpr int kMemory = 8;            // zlib's default

}  // namespace

std::string Gzip(const std::string& bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, kEffort, Z_DEFLATED, kWindowBits, kMemory, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return "";
  }
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  // zlib's interface is not const, and does not write there.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(whole ? stream.total_out : 0);
  deflateEnd(&stream);
  return packed;
}

}  // namespace reel::front
