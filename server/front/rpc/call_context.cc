// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/call_context.h"

#include <grpc/support/time.h>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "server/front/api/authorizer.h"
#include "server/front/api/shown_error.h"
#include "server/front/config/field_rules.h"
#include "server/logging/log.h"
#include "server/logging/tenant_hash.h"

namespace reel::front {
namespace {

static_assert(static_cast<int>(absl::StatusCode::kCancelled) == grpc::StatusCode::CANCELLED);
static_assert(static_cast<int>(absl::StatusCode::kUnknown) == grpc::StatusCode::UNKNOWN);
static_assert(static_cast<int>(absl::StatusCode::kInvalidArgument) ==
              grpc::StatusCode::INVALID_ARGUMENT);
static_assert(static_cast<int>(absl::StatusCode::kDeadlineExceeded) ==
              grpc::StatusCode::DEADLINE_EXCEEDED);
static_assert(static_cast<int>(absl::StatusCode::kNotFound) == grpc::StatusCode::NOT_FOUND);
static_assert(static_cast<int>(absl::StatusCode::kAlreadyExists) ==
              grpc::StatusCode::ALREADY_EXISTS);
static_assert(static_cast<int>(absl::StatusCode::kPermissionDenied) ==
              grpc::StatusCode::PERMISSION_DENIED);
static_assert(static_cast<int>(absl::StatusCode::kResourceExhausted) ==
              grpc::StatusCode::RESOURCE_EXHAUSTED);
static_assert(static_cast<int>(absl::StatusCode::kFailedPrecondition) ==
              grpc::StatusCode::FAILED_PRECONDITION);
static_assert(static_cast<int>(absl::StatusCode::kAborted) == grpc::StatusCode::ABORTED);
static_assert(static_cast<int>(absl::StatusCode::kOutOfRange) == grpc::StatusCode::OUT_OF_RANGE);
static_assert(static_cast<int>(absl::StatusCode::kUnimplemented) ==
              grpc::StatusCode::UNIMPLEMENTED);
static_assert(static_cast<int>(absl::StatusCode::kInternal) == grpc::StatusCode::INTERNAL);
static_assert(static_cast<int>(absl::StatusCode::kUnavailable) == grpc::StatusCode::UNAVAILABLE);
static_assert(static_cast<int>(absl::StatusCode::kDataLoss) == grpc::StatusCode::DATA_LOSS);
static_assert(static_cast<int>(absl::StatusCode::kUnauthenticated) ==
              grpc::StatusCode::UNAUTHENTICATED);

}  // namespace

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const absl::Status shown = ShownToClients(status);
  return {static_cast<grpc::StatusCode>(shown.code()),
          std::string(shown.message().data(), shown.message().size()), SerializeError(shown)};
}

namespace {

// More would be carried by some proxies and not by others. gRPC itself takes 128 KiB, so that one
// caller's excess does not end its neighbours' calls on a shared connection.
constexpr size_t kMaxMetadataBytes = 8 * 1024;
constexpr size_t kEntryOverhead = 32;  // as HTTP/2 counts
constexpr char kAuthorization[] = "authorization";

std::string_view Find(const grpc::CallbackServerContext& context, const char* key) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find(key);
  if (found == metadata.end()) return {};
  return {found->second.data(), found->second.size()};
}

size_t MetadataBytes(const grpc::CallbackServerContext& context) {
  size_t bytes = 0;
  for (const auto& [key, value] : context.client_metadata()) {
    bytes += key.size() + value.size() + kEntryOverhead;
  }
  return bytes;
}

}  // namespace

CallContext::CallContext(const CallEnvironment& environment, grpc::CallbackServerContext& context,
                         Method method)
    : environment_(environment),
      context_(context),
      method_(method),
      started_(std::chrono::steady_clock::now()) {
  environment_.open_calls.Enter();
  (RowOf(method_).measured ? environment_.callers : environment_.probes).Note(connection());
  environment_.observer.CallStarted(method_);
  const std::string_view given = Find(context_, "x-request-id");
  request_id_ = IsUuid(given) ? std::string(given) : DrawUuid();
  const std::string_view traceparent = Find(context_, "traceparent");
  trace_id_ = TraceIdOf(traceparent);
  caller_span_ = CallerSpanOf(traceparent);
  if (trace_id_.empty()) trace_id_ = DrawTraceId();
}

CallContext::~CallContext() { environment_.open_calls.Leave(); }

absl::Status CallContext::Authorize() {
  const size_t bytes = MetadataBytes(context_);
  if (bytes > kMaxMetadataBytes) {
    return MakeError(
        Reason::kMetadataTooLarge,
        absl::StrCat("The call's metadata is too large: ", bytes, " bytes, at most ",
                     kMaxMetadataBytes),
        {.metadata = {{"bytes", absl::StrCat(bytes)}, {"limit", absl::StrCat(kMaxMetadataBytes)}}});
  }
  auto principal = Identify();
  if (!principal.ok()) return principal.status();
  principal_ = *std::move(principal);
  return absl::OkStatus();
}

Reach CallContext::reach() const {
  Reach reach = ReachOf(principal_);
  reach.from_peer = environment_.from_peers;
  return reach;
}

// The node has shown who it is before any call, where its listener is not on loopback.
absl::StatusOr<Principal> CallContext::IdentifyPeersCaller() const {
  const std::string_view tenant = Find(context_, kPeersTenantKey);
  if (context_.client_metadata().count(kPeersTenantKey) != 1 || !IsLegalName(tenant)) {
    return MakeError(Reason::kUnauthenticated,
                     "This listener is for other servers of the fleet: a call names its tenant");
  }
  if (method_ != Method::kWatchVideo) {
    return MakeError(Reason::kPermissionDenied,
                     "This listener is for other servers of the fleet: they may watch videos");
  }
  return Principal{std::string(tenant), Role::kViewer};
}

absl::StatusOr<Principal> CallContext::Identify() const {
  if (environment_.from_peers) return IdentifyPeersCaller();
  // Of two, a proxy may have looked at the other one.
  if (context_.client_metadata().count(kAuthorization) > 1) {
    return MakeError(Reason::kUnauthenticated,
                     "The call has more than one 'authorization' in its metadata; send one");
  }
  return environment_.authorizer.Authorize(Find(context_, kAuthorization), method_);
}

absl::Status CallContext::StillAuthorized() const {
  auto principal = Identify();
  return principal.ok() ? StillReaches(principal_, *principal) : principal.status();
}

void CallContext::Unserved(const absl::Status& why) {
  const bool creates = method_ == Method::kCreateVideo;
  if (!creates && method_ != Method::kGenerateVideo) return;
  // A caller that has left before it asked for anything was refused nothing.
  if (!absl::IsCancelled(why)) environment_.observer.RequestRefused(why, creates);
}

void CallContext::SetRequestId(const std::string& request_id) {
  if (IsUuid(request_id)) request_id_ = request_id;
}

absl::Duration CallContext::age() const {
  return absl::FromChrono(std::chrono::steady_clock::now() - started_);
}

absl::Time CallContext::deadline() const {
  // Not gRPC's C++ deadline(): that counts nanoseconds and overflows beyond the year 2262, to which
  // what some clients send for "no deadline" comes.
  const gpr_timespec deadline = gpr_convert_clock_type(context_.raw_deadline(), GPR_CLOCK_REALTIME);
  if (gpr_time_cmp(deadline, gpr_inf_future(GPR_CLOCK_REALTIME)) >= 0)
    return absl::InfiniteFuture();
  return absl::FromUnixSeconds(deadline.tv_sec) + absl::Nanoseconds(deadline.tv_nsec);
}

grpc::Status CallContext::End(const absl::Status& status) {
  context_.AddTrailingMetadata("x-request-id", request_id_);
  context_.AddTrailingMetadata("x-trace-id", trace_id_);
  grpc::Status sent = ToGrpc(status);
  if (sent.error_code() == grpc::StatusCode::UNAVAILABLE) {
    if (const auto retry = RetryAfterOf(status)) {
      context_.AddTrailingMetadata("grpc-retry-pushback-ms",
                                   absl::StrCat(absl::ToInt64Milliseconds(*retry)));
    }
  }
  const absl::Duration took = age();
  WriteLog(status, took);
  environment_.observer.CallEnded(method_, static_cast<absl::StatusCode>(sent.error_code()), took);
  return sent;
}

void CallContext::WriteLog(const absl::Status& status, absl::Duration took) const {
  const MethodRow& row = RowOf(method_);
  if (!row.measured) return;  // probes come every few seconds
  const bool fault = absl::IsInternal(status) || absl::IsDataLoss(status);
  const bool quiet = status.ok() && !row.streams && row.role == Role::kViewer;
  const auto reason = ReasonOf(status);
  // A flood of them would fill the disk, and UnsentRequests tells their number.
  const bool unsent = reason == Reason::kRequestNotReceived;
  const LogLevel level = fault             ? LogLevel::kError
                         : quiet || unsent ? LogLevel::kDebug
                                           : LogLevel::kInfo;
  Log(level, "call",
      {{"method", row.name},
       {"code", absl::StatusCodeToString(status.code())},
       {"reason", reason ? Describe(*reason).name : std::string_view()},
       {"duration", took},
       {"request_id", request_id_},
       {"trace_id", trace_id_},
       {"video", video_},
       {"tenant", TenantHash(principal_.tenant)}});
}

}  // namespace reel::front
