// SPDX-License-Identifier: Apache-2.0
// Every reason for which Reel refuses or fails something. This table fixes the status codes, and
// the page of reasons in proto/README.md is made from it.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace reel {

enum class Reason {
  // Requests.
  kInvalidSpec,
  kInvalidRequest,
  kUnknownKernel,
  kModelNotFound,
  kModelUnloaded,
  kModelReplaced,
  kAdapterChanged,
  kAdapterBroken,
  kAdapterNotForModel,
  kWorkerNotFound,
  kServiceNotFound,
  kVideoNotFound,
  kWrongReplica,
  kVideoExpired,
  kRequestIdConflict,
  kKernelUnavailable,
  kVideoNotReady,
  kVideoNotFinal,
  kFileNotFound,
  kStateGone,
  kStateNotForModel,
  kShapeQuarantined,
  kTooLargeForDevice,
  kOffsetPastEnd,
  kMetadataTooLarge,
  kUndecodableRequest,
  kRequestNotReceived,
  kUnauthenticated,
  kPermissionDenied,
  // Only over HTTP.
  kMalformedHttp,
  kHostRefused,
  kOriginRefused,
  kRouteNotFound,
  kMethodNotAllowed,
  kBodyTooLarge,
  kBodyType,
  kOtherAttempt,
  kNoRemoteInput,
  kNoAnswer,
  // Capacity.
  kTenantQuota,
  kStoreFull,
  kQueueFull,
  kServerDraining,
  kFleetUnavailable,
  kNoDevice,
  kModelNotReady,
  kDeadlineUnreachable,
  // Ends of jobs.
  kDeadlinePassed,
  kCancelledByOwner,
  kOwnerLeft,
  kOutOfDeviceMemory,
  kNumericalFault,
  kEncoderFault,
  kWorkerLost,
  kWorkerFault,
  kMediaCorrupt,
  kInternal,
};

struct ReasonRow {
  Reason reason;
  std::string_view name;  // ErrorInfo.reason
  absl::StatusCode code;
  std::string_view meaning;  // one sentence for the documentation
};

absl::Span<const ReasonRow> AllReasons();
const ReasonRow& Describe(Reason reason);
// The reason of this name; kInternal if unknown.
Reason ReasonFromName(std::string_view name);

}  // namespace reel
