// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/grpc_log.h"

#include <grpc/support/log.h>

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

}  // namespace

void TakeGrpcLog() { gpr_set_log_function(Forward); }

}  // namespace reel::front
