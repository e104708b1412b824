// SPDX-License-Identifier: Apache-2.0
#include "server/errors/reason.h"

namespace reel {
namespace {

using absl::StatusCode;

constexpr ReasonRow kRows[] = {
    {Reason::kInvalidSpec, "INVALID_SPEC", StatusCode::kInvalidArgument,
     "Fields of the spec break rules; all of them are listed with the nearest legal values."},
    {Reason::kInvalidRequest, "INVALID_REQUEST", StatusCode::kInvalidArgument,
     "A field beside the spec breaks a rule: a request id, a timeout, labels, a page token, an "
     "offset."},
    {Reason::kUnknownKernel, "UNKNOWN_KERNEL", StatusCode::kInvalidArgument,
     "The kernel selection names a profile, operator, variant, experiment or arm that does not "
     "exist."},
    {Reason::kModelNotFound, "MODEL_NOT_FOUND", StatusCode::kNotFound,
     "No model of this name is served."},
    {Reason::kModelUnloaded, "MODEL_UNLOADED", StatusCode::kFailedPrecondition,
     "The model was taken out of service, before the request or while its video waited."},
    {Reason::kModelReplaced, "MODEL_REPLACED", StatusCode::kFailedPrecondition,
     "The model was replaced while the video waited, and the new one does not take its request as "
     "it was admitted."},
    {Reason::kAdapterChanged, "ADAPTER_CHANGED", StatusCode::kFailedPrecondition,
     "An adapter of the request was replaced or taken away while the video waited."},
    {Reason::kAdapterBroken, "ADAPTER_BROKEN", StatusCode::kFailedPrecondition,
     "The file of an adapter is gone, damaged, or not the one that was registered."},
    {Reason::kAdapterNotForModel, "ADAPTER_NOT_FOR_MODEL", StatusCode::kFailedPrecondition,
     "An adapter is for another model, or of more ranks than the model has room for."},
    {Reason::kWorkerNotFound, "WORKER_NOT_FOUND", StatusCode::kNotFound,
     "No worker of this name is configured."},
    {Reason::kServiceNotFound, "SERVICE_NOT_FOUND", StatusCode::kNotFound,
     "The health check names a service that this server does not report on."},
    {Reason::kVideoNotFound, "VIDEO_NOT_FOUND", StatusCode::kNotFound,
     "No such video, or it belongs to another tenant."},
    {Reason::kWrongReplica, "WRONG_REPLICA", StatusCode::kNotFound,
     "Another server alone knows the video, or has its file; the message names both."},
    {Reason::kVideoExpired, "VIDEO_EXPIRED", StatusCode::kNotFound,
     "The video of this request id existed and has been removed."},
    {Reason::kRequestIdConflict, "REQUEST_ID_CONFLICT", StatusCode::kAlreadyExists,
     "The request id was used before, for a video with a different spec."},
    {Reason::kKernelUnavailable, "KERNEL_UNAVAILABLE", StatusCode::kFailedPrecondition,
     "The kernel variant exists, but no device of this server can run it, or not in the type of "
     "the model."},
    {Reason::kVideoNotReady, "VIDEO_NOT_READY", StatusCode::kFailedPrecondition,
     "Only a finished video can be downloaded."},
    {Reason::kVideoNotFinal, "VIDEO_NOT_FINAL", StatusCode::kFailedPrecondition,
     "A queued or running video cannot be deleted; cancel it first."},
    {Reason::kFileNotFound, "FILE_NOT_FOUND", StatusCode::kNotFound,
     "No such file was sent ahead, it belongs to another tenant, or it has expired; the violation "
     "names its field; send it again."},
    {Reason::kStateGone, "STATE_GONE", StatusCode::kFailedPrecondition,
     "The video that this one would go on from did not keep its state, or it is damaged or has "
     "been removed."},
    {Reason::kStateNotForModel, "STATE_NOT_FOR_MODEL", StatusCode::kFailedPrecondition,
     "The state belongs to another model, other weights or adapters, or another request; the "
     "message names what differs."},
    {Reason::kShapeQuarantined, "SHAPE_QUARANTINED", StatusCode::kFailedPrecondition,
     "Videos of this model and shape crashed several workers lately; they are refused for a "
     "while."},
    {Reason::kTooLargeForDevice, "TOO_LARGE_FOR_DEVICE", StatusCode::kFailedPrecondition,
     "A video of this size takes more memory than any device of this server has, even alone."},
    {Reason::kOffsetPastEnd, "OFFSET_PAST_END", StatusCode::kOutOfRange,
     "The offset lies past the end of the file."},
    {Reason::kMetadataTooLarge, "METADATA_TOO_LARGE", StatusCode::kInvalidArgument,
     "The call's metadata is larger than 8 KiB."},
    {Reason::kUndecodableRequest, "UNDECODABLE_REQUEST", StatusCode::kInvalidArgument,
     "The bytes of the request are not its message, or a string of it is not valid UTF-8."},
    {Reason::kRequestNotReceived, "REQUEST_NOT_RECEIVED", StatusCode::kUnavailable,
     "The call was opened and its request did not follow within 30 seconds, or too many calls were "
     "waiting for theirs."},
    {Reason::kUnauthenticated, "UNAUTHENTICATED", StatusCode::kUnauthenticated,
     "The call has no token, or an unknown one."},
    {Reason::kPermissionDenied, "PERMISSION_DENIED", StatusCode::kPermissionDenied,
     "The caller's role may not call this method."},
    {Reason::kMalformedHttp, "MALFORMED_HTTP", StatusCode::kInvalidArgument,
     "Only over HTTP: the request's lines or lengths can be read in more than one way."},
    {Reason::kHostRefused, "HOST_REFUSED", StatusCode::kInvalidArgument,
     "Only over HTTP: on loopback the Host field must be localhost, a loopback address or one of "
     "http.hosts."},
    {Reason::kOriginRefused, "ORIGIN_REFUSED", StatusCode::kPermissionDenied,
     "Only over HTTP: a web page of another origin, not one of http.allow_origins, asked for a "
     "change."},
    {Reason::kRouteNotFound, "ROUTE_NOT_FOUND", StatusCode::kNotFound,
     "Only over HTTP: there is no such path."},
    {Reason::kMethodNotAllowed, "METHOD_NOT_ALLOWED", StatusCode::kUnimplemented,
     "Only over HTTP: the path is known, with other methods; the field Allow names them."},
    {Reason::kBodyTooLarge, "BODY_TOO_LARGE", StatusCode::kInvalidArgument,
     "Only over HTTP: the request's body is larger than its route takes."},
    {Reason::kBodyType, "BODY_TYPE", StatusCode::kInvalidArgument,
     "Only over HTTP: the body is not of a Content-Type that its route takes."},
    {Reason::kOtherAttempt, "OTHER_ATTEMPT", StatusCode::kFailedPrecondition,
     "Only over HTTP: the video was started again, and its file is not the one that was asked "
     "for."},
    {Reason::kNoRemoteInput, "NO_REMOTE_INPUT", StatusCode::kInvalidArgument,
     "Only over HTTP: input_reference or reference_video is an address, a path or a file's id; the "
     "server fetches nothing."},
    {Reason::kNoAnswer, "NO_ANSWER", StatusCode::kDeadlineExceeded,
     "Only over HTTP: the server had no answer within 10 seconds; what was asked may still "
     "happen."},
    {Reason::kTenantQuota, "TENANT_QUOTA", StatusCode::kResourceExhausted,
     "The tenant has reached its limit of jobs, device seconds, stored bytes or open streams."},
    {Reason::kStoreFull, "STORE_FULL", StatusCode::kResourceExhausted,
     "The disk for results is above its limit."},
    {Reason::kQueueFull, "QUEUE_FULL", StatusCode::kUnavailable,
     "More work waits than the devices can do in reasonable time; try again later."},
    {Reason::kServerDraining, "SERVER_DRAINING", StatusCode::kUnavailable,
     "The server is shutting down and takes no new work."},
    {Reason::kFleetUnavailable, "FLEET_UNAVAILABLE", StatusCode::kUnavailable,
     "The log or the store of the fleet cannot be reached or is full, or this server lacks the key "
     "of the video; try again with the same request id."},
    {Reason::kNoDevice, "NO_DEVICE", StatusCode::kUnavailable,
     "Every device that could run it is out of service."},
    {Reason::kModelNotReady, "MODEL_NOT_READY", StatusCode::kUnavailable,
     "The model is still loading for the first time, so its limits are not known yet."},
    {Reason::kDeadlineUnreachable, "DEADLINE_UNREACHABLE", StatusCode::kDeadlineExceeded,
     "The job cannot be finished within its deadline, so it was not started."},
    {Reason::kDeadlinePassed, "DEADLINE_PASSED", StatusCode::kDeadlineExceeded,
     "The deadline passed while the job was queued or running."},
    {Reason::kCancelledByOwner, "CANCELLED_BY_OWNER", StatusCode::kCancelled,
     "The video was cancelled on request."},
    {Reason::kOwnerLeft, "OWNER_LEFT", StatusCode::kCancelled,
     "The last call that the video depended on was closed."},
    {Reason::kOutOfDeviceMemory, "OUT_OF_DEVICE_MEMORY", StatusCode::kInternal,
     "The device ran out of memory, although no other job was on it."},
    {Reason::kNumericalFault, "NUMERICAL_FAULT", StatusCode::kInternal,
     "The model computed NaN or Inf, so nothing was sent."},
    {Reason::kEncoderFault, "ENCODER_FAULT", StatusCode::kInternal, "The video encoder failed."},
    {Reason::kWorkerLost, "WORKER_LOST", StatusCode::kInternal,
     "The worker process ended while it rendered, and so did the one that tried again."},
    {Reason::kWorkerFault, "WORKER_FAULT", StatusCode::kInternal,
     "The device failed while it rendered this video."},
    {Reason::kMediaCorrupt, "MEDIA_CORRUPT", StatusCode::kDataLoss,
     "The stored file is damaged or missing."},
    {Reason::kInternal, "INTERNAL", StatusCode::kInternal, "An error inside the server."},
};

}  // namespace

absl::Span<const ReasonRow> AllReasons() { return kRows; }

const ReasonRow& Describe(Reason reason) {
  for (const ReasonRow& row : kRows) {
    if (row.reason == reason) return row;
  }
  return kRows[std::size(kRows) - 1];
}

Reason ReasonFromName(std::string_view name) {
  for (const ReasonRow& row : kRows) {
    if (row.name == name) return row.reason;
  }
  return Reason::kInternal;
}

}  // namespace reel
