// SPDX-License-Identifier: Apache-2.0
// Errors that reach a client: an absl::Status whose payloads are the google.rpc details that gRPC
// sends. This header needs no protobuf, so that every folder of the server can make one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "model/resolve.h"
#include "server/errors/reason.h"

namespace reel {

// The details beside ErrorInfo. Fill those that the reason calls for.
struct ErrorDetails {
  std::map<std::string, std::string> metadata = {};    // every variable of the message, by name
  std::vector<model::FieldViolation> violations = {};  // BadRequest; paths as the client wrote them
  std::optional<absl::Duration> retry_after = {};      // RetryInfo, and the pushback trailer
  std::string resource_type = {}, resource_name = {};  // ResourceInfo
  std::string quota_subject = {}, quota_description = {};  // QuotaFailure
  std::string precondition_type = {}, precondition_subject = {}, precondition_description = {};
};

// The reason fixes the code. `message`: static sentence first, values last, never a prompt.
absl::Status MakeError(Reason reason, std::string_view message, const ErrorDetails& details = {});

// "The request is invalid: N violations" with all of them, in one status. `violations` is not
// empty.
absl::Status MakeInvalid(Reason reason, const std::vector<model::FieldViolation>& violations);

// How much of a quota is used.
struct QuotaUse {
  int64_t value = 0, limit = 0;
};
// The message is "`what`: VALUE, the limit is LIMIT". `subject`: "tenant:NAME" or "server".
absl::Status MakeOverQuota(Reason reason, const std::string& subject, std::string_view what,
                           QuotaUse use, std::optional<absl::Duration> retry_after = {});

// The same error, its message followed by `note`, whose variables are in `metadata`.
absl::Status WithNote(const absl::Status& error, std::string_view note,
                      const std::map<std::string, std::string>& metadata);

// The same error with other names of fields. `renamed` is called for its message, the fields of its
// violations and the metadata "field", and returns the replacement.
absl::Status WithFieldNames(const absl::Status& error,
                            absl::FunctionRef<std::string(std::string_view)> renamed);

// The reason of a status made here; nullopt for any other.
std::optional<Reason> ReasonOf(const absl::Status& status);
std::optional<absl::Duration> RetryAfterOf(const absl::Status& status);

// Serialises a google.rpc.Status with all details, in at most 4 KiB: gRPC 1.51 turns 8 KiB of
// metadata into a bare RESOURCE_EXHAUSTED. And parses it.
std::string SerializeError(const absl::Status& status);
absl::Status ParseError(std::string_view serialized);

}  // namespace reel
