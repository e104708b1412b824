// SPDX-License-Identifier: Apache-2.0
#include "client/connection.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/error_details.h"
#include "kernels/base/program/whole_file.h"

namespace reel::client {
namespace {

constexpr absl::Duration kReconnectPatience = absl::Milliseconds(200);
constexpr int kLargestMessage = 4 << 20;  // a chunk has at most 1 MiB, a list of videos less

absl::StatusOr<std::string> ReadFile(const std::string& what, const std::string& path) {
  std::optional<std::string> content = ReadWholeFile(path);
  if (!content.has_value() || content->empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("The ", what, " is empty or cannot be read: ", path, "."));
  }
  return *std::move(content);
}

bool IsLocal(const std::string& server) {
  for (const char* prefix : {"127.", "localhost:", "[::1]:", "::1", "unix:"}) {
    if (absl::StartsWith(server, prefix)) return true;
  }
  return server == "localhost";
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> Credentials(
    const ClientOptions& options) {
  if (!options.tls && options.tls_ca.empty()) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions ssl;
  const struct {
    const char* what;
    const std::string& path;
    std::string& content;
  } files[] = {{"file of trusted certificates", options.tls_ca, ssl.pem_root_certs},
               {"client certificate", options.tls_certificate, ssl.pem_cert_chain},
               {"client key", options.tls_key, ssl.pem_private_key}};
  for (const auto& file : files) {
    if (file.path.empty()) continue;
    auto content = ReadFile(file.what, file.path);
    if (!content.ok()) return content.status();
    file.content = *std::move(content);
  }
  return grpc::SslCredentials(ssl);
}

grpc::ChannelArguments Arguments(const ClientOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kLargestMessage);
  // Detects a server or network that vanished within 40 s. More frequent pings than every 20 s
  // would get a GOAWAY.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  // Retries are decided here, with the server's details, not inside the channel.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2'000);
  // A proxy from the environment must not be used for this machine.
  if (IsLocal(options.server)) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return arguments;
}

}  // namespace

Connection::Connection(const ClientOptions& options, std::shared_ptr<grpc::Channel> channel)
    : options_(options),
      channel_(std::move(channel)),
      videos_(v1::VideoService::NewStub(channel_)),
      server_(v1::ServerService::NewStub(channel_)),
      health_(grpc::health::v1::Health::NewStub(channel_)) {}

absl::StatusOr<std::shared_ptr<const Connection>> Connection::Open(const ClientOptions& options) {
  if (options.server.empty()) {
    return absl::InvalidArgumentError("The server's address is empty; give HOST:PORT.");
  }
  if (options.tls_certificate.empty() != options.tls_key.empty()) {
    return absl::InvalidArgumentError("A client certificate and its key must be given together.");
  }
  const bool encrypted = options.tls || !options.tls_ca.empty();
  if (!options.token_file.empty() && !encrypted && !IsLocal(options.server)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Tokens are sent over TLS only; use TLS for the server ", options.server, "."));
  }
  auto credentials = Credentials(options);
  if (!credentials.ok()) return credentials.status();
  auto channel = grpc::CreateCustomChannel(options.server, *credentials, Arguments(options));
  return std::shared_ptr<const Connection>(new Connection(options, std::move(channel)));
}

absl::Status Connection::Prepare(grpc::ClientContext& context,
                                 std::optional<absl::Duration> timeout) const {
  if (timeout) context.set_deadline(absl::ToChronoTime(absl::Now() + *timeout));
  if (options_.token_file.empty()) return absl::OkStatus();
  auto token = ReadFile("token file", options_.token_file);
  if (!token.ok()) return token.status();
  const std::string stripped(absl::StripAsciiWhitespace(*token));
  for (const char c : stripped) {
    // gRPC aborts on a header value with control characters.
    if (!absl::ascii_isgraph(static_cast<unsigned char>(c))) {
      return absl::InvalidArgumentError(
          absl::StrCat("The token file holds more than one token: ", options_.token_file, "."));
    }
  }
  context.AddMetadata("authorization", absl::StrCat("Bearer ", stripped));
  return absl::OkStatus();
}

void Connection::Reconnect() const {
  // By default the channel took ten seconds to notice a server that was back after one.
  grpc::experimental::ChannelResetConnectionBackoff(channel_.get());
  WaitUntilConnected(kReconnectPatience);
}

bool Connection::WaitUntilConnected(absl::Duration timeout) const {
  return channel_->WaitForConnected(absl::ToChronoTime(absl::Now() + timeout));
}

Failure MakeFailure(const grpc::Status& status, const grpc::ClientContext& context) {
  Failure failure;
  failure.status = MakeStatus(status.error_code(), status.error_message(), status.error_details());
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto pushback = trailers.find("grpc-retry-pushback-ms");
  int64_t milliseconds = 0;
  if (pushback != trailers.end() &&
      absl::SimpleAtoi(absl::string_view(pushback->second.data(), pushback->second.size()),
                       &milliseconds)) {
    failure.pushback = absl::Milliseconds(milliseconds);
  }
  return failure;
}

}  // namespace reel::client
