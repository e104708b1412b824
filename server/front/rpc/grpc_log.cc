// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/grpc_log.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <string>
#include <string_view>

#include "server/logging/log.h"

namespace reel::front {
namespace {

constexpr size_t kMaxBytes = 500;

void Forward(gpr_log_func_args* line) {
  const LogLevel level =
      line->severity == GPR_LOG_SEVERITY_ERROR ? LogLevel::kWarning : LogLevel::kDebug;
  Log(level, "grpc", {{"text", std::string_view(line->message).substr(0, kMaxBytes)}});
}

// Its lines name fields and files, never what is in them.
void ForwardProtobuf(google::protobuf::LogLevel level, const char*, int,
                     const std::string& message) {
  const LogLevel ours =
      level == google::protobuf::LOGLEVEL_FATAL ? LogLevel::kError : LogLevel::kInfo;
  Log(ours, "protobuf", {{"text", std::string_view(message).substr(0, kMaxBytes)}});
}

}  // namespace

void TakeGrpcLog() { gpr_set_log_function(Forward); }

void TakeProtobufLog() { google::protobuf::SetLogHandler(ForwardProtobuf); }

}  // namespace reel::front
