// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/request_convert.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/convert/convert.h"
#include "server/convert/proto_duration.h"
#include "server/errors/error.h"
#include "server/front/api/authorizer.h"
#include "server/front/api/page_token.h"
#include "server/front/api/video_convert.h"
#include "server/front/config/field_rules.h"

namespace reel::front {
namespace {

using Violations = std::vector<model::FieldViolation>;

constexpr int kDefaultPageSize = 50;
constexpr int kMaxPageSize = 200;
constexpr std::string_view kNamePrefix = "videos/";
constexpr absl::Duration kLargestMargin = absl::Milliseconds(200);

// What request ids compare: the same message always gives the same bytes.
std::string Deterministic(const v1::VideoSpec& spec) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.SetSerializationDeterministic(true);
    spec.SerializeToCodedStream(&out);
  }
  return bytes;
}

size_t CountCharacters(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

bool IsVideoName(std::string_view name) {
  return name.starts_with(kNamePrefix) && IsLegalName(name.substr(kNamePrefix.size()));
}

std::string BadName(const std::string& name) {
  return absl::StrCat(
      "must be videos/{id}, the id of a-z, 0-9, '.', '_' and '-', at most 63; the "
      "name has ",
      name.size(), " bytes");
}

void CheckRequestId(const std::string& id, Violations& out) {
  if (!id.empty() && !IsUuid(id)) {
    out.push_back({"request_id", absl::StrCat("must be empty or a UUID, 8-4-4-4-12 hexadecimal "
                                              "digits; it has ",
                                              id.size(), " bytes")});
  }
}

void CheckPriority(v1::Priority priority, Violations& out) {
  if (!v1::Priority_IsValid(priority)) {
    out.push_back({"priority", absl::StrCat("must be a Priority, 0..3: ", priority,
                                            "; the nearest is ", priority < 0 ? 0 : 3)});
  }
}

int CheckCount(int count, const v1::VideoSpec& spec, Violations& out) {
  if (count < 0 || count > kMostVideosPerCall) {
    out.push_back({"count", absl::StrCat("must be 1 to ", kMostVideosPerCall, ": ", count,
                                         "; the nearest is ", count < 0 ? 1 : kMostVideosPerCall)});
  } else if (count > 1 && spec.source().has_promote()) {
    out.push_back({"count", absl::StrCat("must be 1 beside spec.source.promote, which has one "
                                         "draft's seed: ",
                                         count)});
  }
  return std::max(count, 1);
}

template <typename Labels>
void CheckLabels(const Labels& labels, const RequestRules& rules, Violations& out) {
  if (static_cast<int>(labels.size()) > rules.max_labels) {
    out.push_back({"labels", absl::StrCat("must be at most ", rules.max_labels, ": there are ",
                                          labels.size())});
  }
  const auto limit = static_cast<size_t>(rules.max_label_chars);
  for (const auto& [key, value] : labels) {
    const size_t longest = std::max(CountCharacters(key), CountCharacters(value));
    if (key.empty() || longest > limit) {
      out.push_back({absl::StrCat("labels[\"", CutUtf8(key, 32), "\"]"),
                     absl::StrCat("key and value must have at most ", limit,
                                  " characters, the key at least one: the longer has ", longest)});
      return;  // the map's order is no one's: one tells enough
    }
  }
}

std::optional<absl::Duration> ReadTimeout(bool has, const google::protobuf::Duration& proto,
                                          const RequestRules& rules, Violations& out) {
  if (!has) return std::nullopt;
  if (!IsLegalProtoDuration(proto)) {
    out.push_back({"timeout", absl::StrCat("must be a Duration, seconds and nanos of one sign and "
                                           "nanos within +-999999999: seconds ",
                                           proto.seconds(), ", nanos ", proto.nanos())});
    return std::nullopt;
  }
  const absl::Duration timeout = FromProtoDuration(proto);
  if (timeout <= absl::ZeroDuration() || timeout > rules.max_timeout) {
    out.push_back(
        {"timeout",
         absl::StrCat("must be above 0 and at most ", absl::FormatDuration(rules.max_timeout), ": ",
                      absl::FormatDuration(timeout), "; the nearest is ",
                      absl::FormatDuration(timeout > rules.max_timeout ? rules.max_timeout
                                                                       : absl::Milliseconds(1)))});
  }
  return timeout;
}

void CheckEnums(const v1::VideoSpec& spec, Violations& out) {
  const v1::EncodingOptions& encoding = spec.encoding();
  if (!v1::VideoCodec_IsValid(encoding.codec())) {
    out.push_back({"spec.encoding.codec", absl::StrCat("must be a VideoCodec, 0..1: ",
                                                       encoding.codec(), "; the nearest is 1")});
  }
  if (!v1::EncodingSpeed_IsValid(encoding.speed())) {
    out.push_back({"spec.encoding.speed", absl::StrCat("must be an EncodingSpeed, 0..5: ",
                                                       encoding.speed(), "; the nearest is 5")});
  }
  if (!v1::Origin_IsValid(encoding.origin())) {
    out.push_back({"spec.encoding.origin", absl::StrCat("must be an Origin, 0..3: ",
                                                        encoding.origin(), "; the nearest is 3")});
  }
  for (int i = 0; i < spec.conditions_size(); ++i) {
    const std::string& file = spec.conditions(i).file();
    if (spec.conditions(i).has_file() && !IsFileName(file)) {
      out.push_back({absl::StrCat("spec.conditions[", i, "].file"),
                     absl::StrCat("must be files/{sha256}, as UploadFile has answered; the name "
                                  "has ",
                                  file.size(), " bytes")});
    }
    const v1::ConditionUse use = spec.conditions(i).use();
    if (v1::ConditionUse_IsValid(use)) continue;
    out.push_back({absl::StrCat("spec.conditions[", i, "].use"),
                   absl::StrCat("must be a ConditionUse, 0 to 3: ", use, "; the nearest is 1")});
  }
}

const char* BeginName(const v1::Source& source) {
  if (source.has_promote()) return "promote";
  return source.has_extend() ? "extend" : "retake";
}

// A promotion's spec is the draft's; others take from their source what it decides. What is set of
// that would go unheard. Whether the new video keeps its state is always its own choice.
bool IsOfSource(const v1::Source& source, int field) {
  if (field == v1::VideoSpec::kSourceFieldNumber || field == v1::VideoSpec::kKeepStateFieldNumber) {
    return false;
  }
  if (source.has_promote()) return true;
  return field == v1::VideoSpec::kWidthFieldNumber || field == v1::VideoSpec::kHeightFieldNumber ||
         field == v1::VideoSpec::kNumFramesFieldNumber ||
         field == v1::VideoSpec::kFrameRateFieldNumber;
}

void CheckSeconds(const char* field, const google::protobuf::Duration& proto, Violations& out) {
  if (IsLegalProtoDuration(proto) && proto.seconds() >= 0 && proto.nanos() >= 0) return;
  out.push_back(
      {absl::StrCat("spec.source.retake.", field),
       absl::StrCat("must be a Duration that is not negative, with nanos up to 999999999: "
                    "seconds ",
                    proto.seconds(), ", nanos ", proto.nanos())});
}

void CheckSource(const v1::VideoSpec& spec, Violations& out) {
  const v1::Source& source = spec.source();
  if (!IsVideoName(source.video())) {
    out.push_back({"spec.source.video", BadName(source.video())});
  }
  if (source.begin_case() == v1::Source::BEGIN_NOT_SET) {
    out.push_back({"spec.source", "must say how the video goes on: promote, extend or retake"});
    return;
  }
  CheckSeconds("begin", source.retake().begin(), out);
  CheckSeconds("end", source.retake().end(), out);
  std::vector<const google::protobuf::FieldDescriptor*> set;
  spec.GetReflection()->ListFields(spec, &set);
  for (const auto* field : set) {
    if (!IsOfSource(source, field->number())) continue;
    out.push_back({absl::StrCat("spec.", field->name()),
                   absl::StrCat("must be left out beside source.", BeginName(source),
                                ": the source's own holds")});
  }
}

// What describes a condition is the server's; a description that comes along with the bytes must
// be theirs.
template <typename Value>
void CheckDescription(const std::string& field, const Value& sent, const Value& is,
                      Violations& out) {
  if (sent == Value() || sent == is) return;
  out.push_back(
      {field, absl::StrCat("does not describe these bytes; leave it out, or send: ", is)});
}

void CheckDescriptions(const v1::VideoSpec& spec, const std::vector<model::Condition>& conditions,
                       Violations& out) {
  for (int i = 0; i < spec.conditions_size(); ++i) {
    const model::Condition& known = conditions[static_cast<size_t>(i)];
    if (known.bytes == nullptr) continue;
    const v1::Condition& sent = spec.conditions(i);
    const std::string at = absl::StrCat("spec.conditions[", i, "].");
    CheckDescription(at + "content_type", sent.content_type(), known.content_type, out);
    CheckDescription(at + "size_bytes", sent.size_bytes(), known.size_bytes, out);
    CheckDescription(at + "sha256", sent.sha256(), known.sha256, out);
  }
}

const model::ModelCard* FindCard(const std::string& name, const std::vector<ServedModel>& models) {
  for (const ServedModel& model : models) {
    const bool meant = name.empty() ? model.is_default : model.card.name == name;
    if (meant && model.has_card) return &model.card;
  }
  return nullptr;
}

// The spec is checked here only to complete the list; admission checks it again.
absl::Status Refuse(Violations violations, const NewJob& job, const RequestRules& rules,
                    const std::vector<ServedModel>& models) {
  const model::GenerationSpec& spec = job.spec;
  // Its own rules the draft's spec has met.
  if (spec.source) return MakeInvalid(Reason::kInvalidRequest, violations);
  const model::ModelCard* card = FindCard(spec.model, models);
  Violations more = card != nullptr
                        ? model::ResolveFor(job.tenant, spec, *card, rules.limits, 0).violations
                        : model::CheckWithoutCard(spec, rules.limits);
  for (model::FieldViolation& violation : more) {
    violation.field = "spec." + violation.field;
    violations.push_back(std::move(violation));
  }
  return MakeInvalid(Reason::kInvalidRequest, violations);
}

NewJob Basic(const v1::VideoSpec& spec, v1::Priority priority, const Asker& asker,
             Violations& violations) {
  CheckPriority(priority, violations);
  CheckEnums(spec, violations);
  if (spec.has_source()) CheckSource(spec, violations);
  NewJob job;
  job.tenant = asker.tenant;
  job.trace_id = asker.trace_id;
  job.caller_span = asker.caller_span;
  job.spec = SpecFromProto(spec);
  CheckDescriptions(spec, job.spec.conditions, violations);
  job.spec_sent = Deterministic(spec);
  job.priority = PriorityFromProto(priority);
  return job;
}

template <typename Request>
NewJob WithExtras(const Request& request, const Asker& asker, const RequestRules& rules,
                  Violations& violations) {
  NewJob job = Basic(request.spec(), request.priority(), asker, violations);
  CheckRequestId(request.request_id(), violations);
  CheckLabels(request.labels(), rules, violations);
  job.request_id = request.request_id();
  // Case does not tell UUIDs apart.
  std::transform(job.request_id.begin(), job.request_id.end(), job.request_id.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  job.labels = {request.labels().begin(), request.labels().end()};
  job.timeout = ReadTimeout(request.has_timeout(), request.timeout(), rules, violations);
  return job;
}

absl::StatusOr<NewJob> Checked(NewJob job, Violations violations, const RequestRules& rules,
                               const std::vector<ServedModel>& models) {
  if (!violations.empty()) return Refuse(std::move(violations), job, rules, models);
  return job;
}

std::string CheckName(const std::string& name, Violations& violations) {
  if (IsVideoName(name)) return name.substr(kNamePrefix.size());
  violations.push_back({"name", BadName(name)});
  return "";
}

void CheckNotNegative(const char* field, int64_t value, Violations& violations) {
  if (value < 0) {
    violations.push_back(
        {field, absl::StrCat("must not be negative: ", value, "; the nearest is 0")});
  }
}

absl::Status ToStatus(const Violations& violations) {
  if (violations.empty()) return absl::OkStatus();
  return MakeInvalid(Reason::kInvalidRequest, violations);
}

}  // namespace

absl::StatusOr<NewJob> NewJobFrom(const v1::GenerateVideoRequest& request, const Asker& asker,
                                  const RequestRules& rules,
                                  const std::vector<ServedModel>& models) {
  Violations violations;
  NewJob job = WithExtras(request, asker, rules, violations);
  job.bound = !request.detached();
  return Checked(std::move(job), std::move(violations), rules, models);
}

absl::StatusOr<NewJob> NewJobFrom(const v1::CreateVideoRequest& request, const Asker& asker,
                                  const RequestRules& rules,
                                  const std::vector<ServedModel>& models) {
  Violations violations;
  NewJob job = WithExtras(request, asker, rules, violations);
  job.count = CheckCount(request.count(), request.spec(), violations);
  return Checked(std::move(job), std::move(violations), rules, models);
}

absl::StatusOr<NewJob> NewJobFrom(const v1::EstimateVideoRequest& request, const Asker& asker,
                                  const RequestRules& rules,
                                  const std::vector<ServedModel>& models) {
  Violations violations;
  NewJob job = Basic(request.spec(), request.priority(), asker, violations);
  job.only_quoted = true;
  job.count = CheckCount(request.count(), request.spec(), violations);
  return Checked(std::move(job), std::move(violations), rules, models);
}

absl::StatusOr<std::string> VideoIdFrom(const std::string& name) {
  Violations violations;
  std::string id = CheckName(name, violations);
  if (!violations.empty()) return ToStatus(violations);
  return id;
}

absl::StatusOr<ListQuery> ListQueryFrom(const v1::ListVideosRequest& request, const Reach& reach) {
  Violations violations;
  ListQuery query;
  query.reach = reach;
  CheckNotNegative("page_size", request.page_size(), violations);
  query.page_size =
      request.page_size() == 0 ? kDefaultPageSize : std::min(request.page_size(), kMaxPageSize);
  for (int i = 0; i < request.states_size(); ++i) {
    const v1::VideoState state = request.states(i);
    if (state == v1::VIDEO_STATE_UNSPECIFIED || !v1::VideoState_IsValid(state)) {
      violations.push_back(
          {absl::StrCat("states[", i, "]"), absl::StrCat("must be a VideoState, 1..5: ", state,
                                                         "; the nearest is ", state < 1 ? 1 : 5)});
      break;
    }
    const VideoState value = StateFromProto(state);
    if (std::find(query.states.begin(), query.states.end(), value) == query.states.end()) {
      query.states.push_back(value);
    }
  }
  if (!violations.empty()) return ToStatus(violations);
  if (!request.page_token().empty()) {
    auto position = ParsePageToken(request.page_token(), query.states);
    if (!position.ok()) return position.status();
    query.before_time = position->time;
    query.before_id = position->id;
  }
  return query;
}

absl::StatusOr<WatchPoint> WatchPointFrom(const v1::WatchVideoRequest& request) {
  Violations violations;
  WatchPoint point{CheckName(request.name(), violations), request.after_sequence(),
                   request.media_offset(), request.attempt(), request.without_media()};
  CheckNotNegative("media_offset", request.media_offset(), violations);
  CheckNotNegative("attempt", request.attempt(), violations);
  if (!violations.empty()) return ToStatus(violations);
  return point;
}

absl::StatusOr<DownloadRange> DownloadRangeFrom(const v1::DownloadVideoRequest& request) {
  Violations violations;
  DownloadRange range{CheckName(request.name(), violations), request.read_offset(),
                      request.read_limit()};
  CheckNotNegative("read_offset", request.read_offset(), violations);
  CheckNotNegative("read_limit", request.read_limit(), violations);
  if (!violations.empty()) return ToStatus(violations);
  return range;
}

absl::Duration VerdictMargin(absl::Duration call_time_left) {
  return std::min(kLargestMargin, call_time_left / 20) + call_time_left / 100;
}

absl::Duration TimeoutOfCall(absl::Duration call_time_left, const RequestRules& rules) {
  if (call_time_left == absl::InfiniteDuration()) return rules.default_timeout;
  return std::clamp(call_time_left - VerdictMargin(call_time_left), absl::Milliseconds(1),
                    rules.max_timeout);
}

}  // namespace reel::front
