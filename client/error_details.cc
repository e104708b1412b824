// SPDX-License-Identifier: Apache-2.0
#include "client/error_details.h"

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace reel::client {
namespace {

// The detail of one type, if the status has it.
template <class Message>
std::optional<Message> Detail(const absl::Status& status) {
  const std::string url = absl::StrCat("type.googleapis.com/", Message::descriptor()->full_name());
  const auto payload = status.GetPayload(url);
  Message message;
  if (!payload || !message.ParseFromString(std::string(*payload))) return std::nullopt;
  return message;
}

std::string Joined(const std::string& subject, const std::string& description) {
  return subject.empty() ? description : absl::StrCat(subject, ": ", description);
}

}  // namespace

ErrorDetails DetailsOf(const absl::Status& status) {
  ErrorDetails details;
  if (const auto info = Detail<google::rpc::ErrorInfo>(status)) {
    details.reason = info->reason();
    details.domain = info->domain();
    details.metadata.insert(info->metadata().begin(), info->metadata().end());
  }
  if (const auto bad = Detail<google::rpc::BadRequest>(status)) {
    for (const auto& violation : bad->field_violations()) {
      details.violations.push_back(
          {violation.field(), violation.description(), violation.reason()});
    }
  }
  if (const auto quota = Detail<google::rpc::QuotaFailure>(status)) {
    for (const auto& violation : quota->violations()) {
      details.failures.push_back(Joined(violation.subject(), violation.description()));
    }
  }
  if (const auto precondition = Detail<google::rpc::PreconditionFailure>(status)) {
    for (const auto& violation : precondition->violations()) {
      details.failures.push_back(Joined(violation.subject(), violation.description()));
    }
  }
  if (const auto retry = Detail<google::rpc::RetryInfo>(status)) {
    details.retry_after = absl::Seconds(retry->retry_delay().seconds()) +
                          absl::Nanoseconds(retry->retry_delay().nanos());
  }
  if (const auto resource = Detail<google::rpc::ResourceInfo>(status)) {
    details.resource_type = resource->resource_type();
    details.resource_name = resource->resource_name();
  }
  return details;
}

absl::Status MakeStatus(int code, const std::string& message, const std::string& serialized) {
  absl::Status status(static_cast<absl::StatusCode>(code), message);
  google::rpc::Status parsed;
  if (status.ok() || !parsed.ParseFromString(serialized)) return status;
  for (const auto& detail : parsed.details()) {
    status.SetPayload(detail.type_url(), absl::Cord(detail.value()));
  }
  return status;
}

}  // namespace reel::client
