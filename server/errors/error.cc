// SPDX-License-Identifier: Apache-2.0
#include "server/errors/error.h"

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace reel {
namespace {

constexpr char kDomain[] = "reel";
constexpr char kTypePrefix[] = "type.googleapis.com/";
constexpr size_t kMaxViolations = 16;
constexpr size_t kMaxDescriptionBytes = 200;
constexpr size_t kMaxMessageBytes = 500;  // it is sent twice: beside the details and in them
constexpr size_t kMaxSerializedBytes = 4096;

template <typename Message>
std::string TypeUrl() {
  return kTypePrefix + std::string(Message::descriptor()->full_name());
}

template <typename Message>
void Attach(absl::Status& status, const Message& message) {
  status.SetPayload(TypeUrl<Message>(), absl::Cord(message.SerializeAsString()));
}

template <typename Message>
std::optional<Message> Detach(const absl::Status& status) {
  auto payload = status.GetPayload(TypeUrl<Message>());
  Message message;
  if (!payload || !message.ParseFromString(std::string(*payload))) return std::nullopt;
  return message;
}

std::string Shortened(const std::string& text, size_t max_bytes = kMaxDescriptionBytes) {
  if (text.size() <= max_bytes) return text;
  size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

google::rpc::BadRequest ToBadRequest(const std::vector<model::FieldViolation>& violations) {
  google::rpc::BadRequest bad_request;
  for (size_t i = 0; i < violations.size() && i < kMaxViolations; ++i) {
    auto* added = bad_request.add_field_violations();
    added->set_field(violations[i].field);
    added->set_description(Shortened(violations[i].description));
    added->set_reason(violations[i].reason);
  }
  if (violations.size() > kMaxViolations) {
    auto* more = bad_request.add_field_violations();
    more->set_description(absl::StrCat("and ", violations.size() - kMaxViolations, " more"));
  }
  return bad_request;
}

void SetDuration(google::protobuf::Duration& out, absl::Duration value) {
  const int64_t nanos = absl::ToInt64Nanoseconds(value);
  out.set_seconds(nanos / 1'000'000'000);
  out.set_nanos(static_cast<int32_t>(nanos % 1'000'000'000));
}

// Drops the least useful parts until the error fits into metadata: the end of a long message, the
// last violations, whole details, and finally the variables of the message.
void Fit(google::rpc::Status& proto) {
  if (proto.ByteSizeLong() > kMaxSerializedBytes) {
    proto.set_message(Shortened(proto.message(), kMaxMessageBytes));
  }
  while (proto.ByteSizeLong() > kMaxSerializedBytes && proto.details_size() > 1) {
    google::rpc::BadRequest bad_request;
    auto* last = proto.mutable_details(proto.details_size() - 1);
    // Drops violations before whole details: the first ones matter most.
    if (last->Is<google::rpc::BadRequest>() && last->UnpackTo(&bad_request) &&
        bad_request.field_violations_size() > 1) {
      bad_request.mutable_field_violations()->RemoveLast();
      last->set_value(bad_request.SerializeAsString());
    } else {
      proto.mutable_details()->RemoveLast();
    }
  }
  if (proto.ByteSizeLong() <= kMaxSerializedBytes) return;
  google::rpc::ErrorInfo info;
  if (proto.details(0).UnpackTo(&info)) {
    info.clear_metadata();
    proto.mutable_details(0)->set_value(info.SerializeAsString());
  } else {
    proto.clear_details();
  }
}

}  // namespace

absl::Status MakeError(Reason reason, std::string_view message, const ErrorDetails& details) {
  const ReasonRow& row = Describe(reason);
  absl::Status status(row.code, Shortened(std::string(message), kMaxMessageBytes));
  google::rpc::ErrorInfo info;
  info.set_reason(std::string(row.name));
  info.set_domain(kDomain);
  for (const auto& [key, value] : details.metadata)
    (*info.mutable_metadata())[key] = Shortened(value);
  Attach(status, info);
  if (!details.violations.empty()) Attach(status, ToBadRequest(details.violations));
  if (details.retry_after) {
    google::rpc::RetryInfo retry;
    SetDuration(*retry.mutable_retry_delay(), *details.retry_after);
    Attach(status, retry);
  }
  if (!details.resource_type.empty()) {
    google::rpc::ResourceInfo resource;
    resource.set_resource_type(details.resource_type);
    resource.set_resource_name(details.resource_name);
    Attach(status, resource);
  }
  if (!details.quota_subject.empty()) {
    google::rpc::QuotaFailure quota;
    auto* violation = quota.add_violations();
    violation->set_subject(details.quota_subject);
    violation->set_description(details.quota_description);
    Attach(status, quota);
  }
  if (!details.precondition_type.empty()) {
    google::rpc::PreconditionFailure failure;
    auto* violation = failure.add_violations();
    violation->set_type(details.precondition_type);
    violation->set_subject(details.precondition_subject);
    violation->set_description(details.precondition_description);
    Attach(status, failure);
  }
  return status;
}

absl::Status MakeInvalid(Reason reason, const std::vector<model::FieldViolation>& violations) {
  ErrorDetails details;
  details.violations = violations;
  details.metadata["violations"] = absl::StrCat(violations.size());
  std::string message = absl::StrCat("The request breaks ", violations.size(),
                                     violations.size() == 1 ? " rule: " : " rules; the first: ");
  if (!violations.empty()) {
    absl::StrAppend(&message, violations[0].field, ": ", Shortened(violations[0].description));
    details.metadata["field"] = violations[0].field;
  }
  return MakeError(reason, message, details);
}

absl::Status MakeOverQuota(Reason reason, const std::string& subject, std::string_view what,
                           QuotaUse use, std::optional<absl::Duration> retry_after) {
  ErrorDetails details;
  details.metadata = {{"limit", absl::StrCat(use.limit)}, {"value", absl::StrCat(use.value)}};
  details.quota_subject = subject;
  details.quota_description = absl::StrCat(absl::string_view(what.data(), what.size()), ": ",
                                           use.value, ", the limit is ", use.limit);
  details.retry_after = retry_after;
  return MakeError(reason, details.quota_description, details);
}

absl::Status WithNote(const absl::Status& error, std::string_view note,
                      const std::map<std::string, std::string>& metadata) {
  const absl::string_view added(note.data(), note.size());
  absl::Status noted(error.code(), absl::StrCat(error.message(), added));
  error.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { noted.SetPayload(url, payload); });
  auto info = Detach<google::rpc::ErrorInfo>(error).value_or(google::rpc::ErrorInfo());
  for (const auto& [key, value] : metadata) (*info.mutable_metadata())[key] = Shortened(value);
  Attach(noted, info);
  return noted;
}

absl::Status WithFieldNames(const absl::Status& error,
                            absl::FunctionRef<std::string(std::string_view)> renamed) {
  absl::Status named(error.code(),
                     renamed(std::string_view(error.message().data(), error.message().size())));
  error.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { named.SetPayload(url, payload); });
  if (auto info = Detach<google::rpc::ErrorInfo>(error)) {
    const auto field = info->mutable_metadata()->find("field");
    if (field != info->mutable_metadata()->end()) field->second = renamed(field->second);
    Attach(named, *info);
  }
  if (auto bad = Detach<google::rpc::BadRequest>(error)) {
    for (auto& violation : *bad->mutable_field_violations()) {
      violation.set_field(renamed(violation.field()));
    }
    Attach(named, *bad);
  }
  return named;
}

std::optional<Reason> ReasonOf(const absl::Status& status) {
  auto info = Detach<google::rpc::ErrorInfo>(status);
  if (!info || info->domain() != kDomain) return std::nullopt;
  return ReasonFromName(info->reason());
}

std::optional<absl::Duration> RetryAfterOf(const absl::Status& status) {
  auto retry = Detach<google::rpc::RetryInfo>(status);
  if (!retry) return std::nullopt;
  return absl::Seconds(retry->retry_delay().seconds()) +
         absl::Nanoseconds(retry->retry_delay().nanos());
}

std::string SerializeError(const absl::Status& status) {
  google::rpc::Status proto;
  proto.set_code(static_cast<int>(status.code()));
  proto.set_message(std::string(status.message().data(), status.message().size()));
  // ErrorInfo comes first, as readers expect; the rest follows in a fixed order.
  const std::string first = TypeUrl<google::rpc::ErrorInfo>();
  std::map<std::string, std::string> rest;
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    const std::string type(url.data(), url.size());
    if (type != first) {
      rest[type] = std::string(payload);
    } else {
      auto* any = proto.add_details();
      any->set_type_url(type);
      any->set_value(std::string(payload));
    }
  });
  for (auto& [type, value] : rest) {
    auto* any = proto.add_details();
    any->set_type_url(type);
    any->set_value(std::move(value));
  }
  Fit(proto);
  return proto.SerializeAsString();
}

absl::Status ParseError(std::string_view serialized) {
  google::rpc::Status proto;
  if (!proto.ParseFromArray(serialized.data(), static_cast<int>(serialized.size()))) {
    return MakeError(Reason::kInternal, "An error could not be read back");
  }
  if (proto.code() == 0) return absl::OkStatus();
  absl::Status status(static_cast<absl::StatusCode>(proto.code()), proto.message());
  for (const auto& any : proto.details()) {
    status.SetPayload(any.type_url(), absl::Cord(any.value()));
  }
  return status;
}

}  // namespace reel
