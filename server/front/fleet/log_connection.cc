// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/log_connection.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "kernels/base/status_macros.h"
#include "nlohmann/json.hpp"
#include "server/front/fleet/log_checks.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

// libnats's text for this thread's last failure; may be empty.
std::string LastError() {
  natsStatus status = NATS_OK;
  const char* const text = nats_GetLastError(&status);
  return text == nullptr ? "" : text;
}

absl::Status Unusable(const char* field, const std::string& file) {
  return absl::FailedPreconditionError(
      absl::StrCat("fleet.nats.", field, " cannot be used: ", file, ": ", LastError()));
}

std::string NameOfWho(const FleetLogOptions& options) {
  if (!options.nkey_public.empty()) return absl::StrCat("key ", options.nkey_public);
  if (!options.user.empty()) return absl::StrCat("user ", options.user);
  return "connection without a key or a user";
}

}  // namespace

natsStatus SignNonce(char**, unsigned char** signature, int* size, const char* nonce, void* seed) {
  const natsStatus status =
      nats_Sign(static_cast<const std::string*>(seed)->c_str(), nonce, signature, size);
  if (status != NATS_OK || (*signature)[0] != 0) return status;
  std::free(*signature);
  *signature = nullptr;
  return NATS_ERR;
}

bool IsEncrypted(const FleetLogOptions& options) {
  return !options.urls.empty() && absl::StartsWith(options.urls.front(), "tls://");
}

absl::Status SetAccess(const FleetLogOptions& options, natsOptions& out) {
  if (!options.user.empty()) {
    natsOptions_SetUserInfo(&out, options.user.c_str(), options.password.c_str());
  }
  if (!options.nkey_seed.empty()) {
    // Not by its file, which may be replaced and then no longer match the public half.
    natsOptions_SetNKey(&out, options.nkey_public.c_str(), SignNonce,
                        const_cast<std::string*>(&options.nkey_seed));
  }
  if (!IsEncrypted(options)) return absl::OkStatus();
  // Without this a server without TLS would be accepted.
  natsOptions_SetSecure(&out, true);
  if (natsOptions_LoadCATrustedCertificates(&out, options.ca_file.c_str()) != NATS_OK) {
    return Unusable("ca_file", options.ca_file);
  }
  if (options.certificate_file.empty()) return absl::OkStatus();
  if (natsOptions_LoadCertificatesChain(&out, options.certificate_file.c_str(),
                                        options.key_file.c_str()) != NATS_OK) {
    return Unusable("certificate_file", options.certificate_file);
  }
  return absl::OkStatus();
}

absl::Status RefusedConnection(const FleetLogOptions& options, natsStatus status) {
  const std::string text = LastError();
  if (status == NATS_CONNECTION_AUTH_FAILED) {
    return absl::PermissionDeniedError(
        absl::StrCat("The NATS servers refuse this server (fleet.nats): ", NameOfWho(options)));
  }
  if (status == NATS_SECURE_CONNECTION_WANTED) {
    return absl::FailedPreconditionError(
        absl::StrCat("A NATS server speaks no TLS: fleet.nats.urls says tls:// (", text, ")"));
  }
  if (status == NATS_SECURE_CONNECTION_REQUIRED) {
    return absl::FailedPreconditionError(
        absl::StrCat("A NATS server wants TLS: fleet.nats.urls must say tls:// (", text, ")"));
  }
  return absl::UnavailableError(
      absl::StrCat("no NATS server can be connected: ", natsStatus_GetText(status),
                   text.empty() ? "" : ": ", text));
}

namespace {

constexpr int64_t kReconnectMs = 200;
// With two unanswered pings a dead connection is noticed after about five seconds.
constexpr int64_t kPingMs = 2000;
constexpr int kMostPings = 2;
constexpr absl::Duration kDuplicates = absl::Minutes(2);
// JetStream's error code; libnats 3.4 has no name for it.
constexpr int kSubjectsOverlap = 10065;
constexpr absl::Duration kBeforeRetry = absl::Milliseconds(100);

absl::Status Failed(const char* what, natsStatus status, int code = 0) {
  return absl::UnavailableError(
      absl::StrCat(what, ": ", natsStatus_GetText(status), " (", code, ")"));
}

// Called on a libnats thread. Only here does libnats report missing permissions.
void OnError(natsConnection* connection, natsSubscription*, natsStatus status, void*) {
  const char* text = nullptr;
  natsConnection_GetLastError(connection, &text);
  Log(LogLevel::kWarning, "the fleet's log: the broker reports an error",
      {{"status", natsStatus_GetText(status)}, {"text", text == nullptr ? "" : text}});
}

// The time in a stream query's answer.
absl::StatusOr<absl::Time> ReadTime(std::string_view answer) {
  const auto read = nlohmann::json::parse(answer, nullptr, /*allow_exceptions=*/false);
  const auto told = read.is_object() ? read.find("ts") : read.end();
  if (told == read.end() || !told->is_string()) {
    const bool failed = read.is_object() && read.contains("error");
    return failed ? absl::UnavailableError("the log has no leader that tells the time")
                  : absl::UnimplementedError("brokers before 2.10 tell no time");
  }
  absl::Time time;
  std::string error;
  if (absl::ParseTime(absl::RFC3339_full, told->get<std::string>(), &time, &error)) return time;
  return absl::UnimplementedError(absl::StrCat("the broker's time cannot be read: ", error));
}

// Whether the stream has videos of the fleet: their names begin with its name.
bool HasVideosOf(const std::string& fleet, const jsStreamStateSubjects& subjects) {
  for (int i = 0; i < subjects.Count; ++i) {
    const std::vector<std::string> tokens =
        absl::StrSplit(std::string(subjects.List[i].Subject), '.');
    if (tokens.size() > 3 && absl::StartsWith(tokens[3], fleet + "-")) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LogConnection>> LogConnection::Open(const FleetLogOptions& options) {
  std::unique_ptr<LogConnection> connection(new LogConnection(options));
  // Retries: servers that just started do not listen yet, and a cluster first elects a leader.
  const absl::Time end = absl::Now() + options.connect_limit;
  absl::Status opened = connection->TryOpen();
  while (absl::IsUnavailable(opened) && absl::Now() < end) {
    absl::SleepFor(kBeforeRetry);
    opened = connection->TryOpen();
  }
  REEL_RETURN_IF_ERROR(opened);
  return connection;
}

absl::Status LogConnection::TryOpen() {
  if (jet_stream_ == nullptr) {
    REEL_RETURN_IF_ERROR(CheckServers());
    REEL_RETURN_IF_ERROR(Connect());
  }
  return MakeStream();
}

// Ends the connection's threads first, so that none looks up a subscription.
LogConnection::~LogConnection() { natsConnection_Close(connection_.get()); }

void LogConnection::Retire(NatsSubscriptionPtr subscription) const {
  if (subscription == nullptr) return;
  natsSubscription_Unsubscribe(subscription.get());
  // The answer to a ping arrives after everything in flight, on the thread that looks up.
  if (natsConnection_FlushTimeout(connection_.get(), absl::ToInt64Milliseconds(options_.answer)) ==
      NATS_OK) {
    return;
  }
  const MutexLock lock(mutex_);
  retired_.push_back(std::move(subscription));
}

absl::Status LogConnection::CheckServers() {
  absl::Status nobody = absl::InvalidArgumentError("no NATS server is named");
  std::set<std::string> versions;
  for (const std::string& url : options_.urls) {
    const absl::StatusOr<std::string> version = AskVersion(url, options_.answer);
    if (!version.ok()) {
      nobody = version.status();
      continue;
    }
    REEL_RETURN_IF_ERROR(CheckVersion(*version, options_.replicas));
    versions.insert(*version);
  }
  versions_.assign(versions.begin(), versions.end());
  return versions_.empty() ? nobody : absl::OkStatus();
}

absl::Status LogConnection::Connect() {
  natsOptions* made = nullptr;
  if (natsOptions_Create(&made) != NATS_OK) return absl::InternalError("libnats has no memory");
  const NatsOptionsPtr options(made);
  std::vector<const char*> urls;
  for (const std::string& url : options_.urls) urls.push_back(url.c_str());
  natsOptions_SetServers(made, urls.data(), static_cast<int>(urls.size()));
  natsOptions_SetTimeout(made, absl::ToInt64Milliseconds(options_.connect_limit));
  natsOptions_SetMaxReconnect(made, -1);
  natsOptions_SetReconnectWait(made, kReconnectMs);
  natsOptions_SetPingInterval(made, kPingMs);
  natsOptions_SetMaxPingsOut(made, kMostPings);
  natsOptions_SetFailRequestsOnDisconnect(made, true);
  natsOptions_SetErrorHandler(made, OnError, nullptr);
  REEL_RETURN_IF_ERROR(SetAccess(options_, *made));
  natsConnection* connection = nullptr;
  if (const natsStatus status = natsConnection_Connect(&connection, made); status != NATS_OK) {
    return RefusedConnection(options_, status);
  }
  connection_.reset(connection);
  jsOptions js_options;
  jsOptions_Init(&js_options);
  js_options.Wait = absl::ToInt64Milliseconds(options_.answer);
  jsCtx* context = nullptr;
  if (const natsStatus status = natsConnection_JetStream(&context, connection, &js_options);
      status != NATS_OK) {
    return Failed("JetStream cannot be used", status);
  }
  jet_stream_.reset(context);
  return absl::OkStatus();
}

bool LogConnection::IsUp() const {
  return natsConnection_Status(connection_.get()) == NATS_CONN_STATUS_CONNECTED;
}

absl::StatusOr<StreamFacts> LogConnection::Look() const {
  jsStreamInfo* info = nullptr;
  jsErrCode code{};
  const natsStatus status =
      js_GetStreamInfo(&info, jet_stream_.get(), names_.stream().c_str(), nullptr, &code);
  const StreamInfoPtr owned(info);
  if (status != NATS_OK) return Failed("the log cannot be looked at", status, code);
  return StreamFacts{info->Created, info->State.FirstSeq, info->State.LastSeq};
}

absl::StatusOr<absl::Time> LogConnection::Time() const {
  const std::string subject = absl::StrCat("$JS.API.STREAM.INFO.", names_.stream());
  natsMsg* made = nullptr;
  const natsStatus status = natsConnection_Request(&made, connection_.get(), subject.c_str(), "", 0,
                                                   absl::ToInt64Milliseconds(options_.answer));
  const NatsMessagePtr message(made);
  if (status != NATS_OK) return Failed("the broker does not tell its time", status);
  return ReadTime({natsMsg_GetData(made), static_cast<size_t>(natsMsg_GetDataLength(made))});
}

absl::Status LogConnection::MakeStream() const {
  jsStreamInfo* info = nullptr;
  jsErrCode code{};
  natsStatus status =
      js_GetStreamInfo(&info, jet_stream_.get(), names_.stream().c_str(), nullptr, &code);
  StreamInfoPtr owned(info);
  if (status == NATS_OK) return CheckStream(*info->Config);
  if (code != JSStreamNotFoundErr) return Failed("the log cannot be looked at", status, code);
  REEL_RETURN_IF_ERROR(CheckOldStream());

  jsRePublish live;
  jsRePublish_Init(&live);
  const std::string destination = names_.Live() + ".>", jobs = names_.Jobs();
  live.Source = ">";
  live.Destination = destination.c_str();
  jsStreamConfig config;
  jsStreamConfig_Init(&config);
  const char* subjects[] = {jobs.c_str()};
  config.Name = names_.stream().c_str();
  config.Subjects = subjects;
  config.SubjectsLen = 1;
  config.Retention = js_LimitsPolicy;
  config.Storage = js_FileStorage;
  config.Replicas = options_.replicas;
  config.MaxAge = absl::ToInt64Nanoseconds(options_.max_age);
  config.MaxBytes = options_.max_bytes;
  config.Discard = js_DiscardNew;
  config.Duplicates = absl::ToInt64Nanoseconds(std::min(kDuplicates, options_.max_age));
  config.RePublish = &live;
  info = nullptr;
  status = js_AddStream(&info, jet_stream_.get(), &config, nullptr, &code);
  owned.reset(info);
  if (status != NATS_OK && code == kSubjectsOverlap) {
    return absl::FailedPreconditionError(
        absl::StrCat("another stream of the brokers takes in ", jobs,
                     ": remove that stream, or give the fleet another name (fleet.name)"));
  }
  // Another node may have created it at the same time: the next try checks it.
  if (status != NATS_OK) return Failed("the log cannot be made", status, code);
  return CheckStream(*info->Config);
}

// Without permission to query streams there is no way to know.
absl::Status LogConnection::CheckOldStream() const {
  jsOptions query;
  jsOptions_Init(&query);
  query.Stream.Info.SubjectsFilter = "reel.j.*.*.q";
  jsStreamInfo* info = nullptr;
  const natsStatus status = js_GetStreamInfo(&info, jet_stream_.get(), kOldStream, &query, nullptr);
  const StreamInfoPtr owned(info);
  if (status != NATS_OK || info->State.Subjects == nullptr) return absl::OkStatus();
  if (info->Config->SubjectsLen != 1 ||
      std::string_view(info->Config->Subjects[0]) != kOldSubjects ||
      !HasVideosOf(options_.fleet, *info->State.Subjects)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the stream ", kOldStream, " has videos of the fleet ", options_.fleet,
      ", as an earlier build kept them; this one keeps them in ", names_.stream(),
      " and would not see those. Have servers of the earlier build finish them and fetch what is "
      "wanted, stop these servers, and remove the stream: nats stream rm ",
      kOldStream));
}

absl::Status LogConnection::CheckStream(const jsStreamConfig& config) const {
  const bool has_subjects =
      config.SubjectsLen == 1 && std::string_view(config.Subjects[0]) == names_.Jobs();
  const bool has_copies = config.RePublish != nullptr && config.RePublish->Destination != nullptr &&
                          config.RePublish->Destination == names_.Live() + ".>" &&
                          !config.RePublish->HeadersOnly;
  if (has_subjects && has_copies && config.Discard == js_DiscardNew &&
      config.Retention == js_LimitsPolicy && config.Replicas == options_.replicas) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat("the stream is there and is not a log of ",
                                                    options_.replicas,
                                                    " replicas: ", names_.stream()));
}

}  // namespace reel::front
