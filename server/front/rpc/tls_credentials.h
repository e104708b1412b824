// SPDX-License-Identifier: Apache-2.0
// TLS of a listener whose certificate is renewed while it serves: each new connection gets what the
// files hold now, the ones that are open stay as they are.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/config/tls_files.h"

namespace reel::front {

// Must outlive the server. INVALID_ARGUMENT names every problem of the files; later ones are
// logged, and the last good files serve on. `valid_until` hears, on any thread, until when each
// certificate that is taken holds; may be empty.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeTlsCredentials(
    const TlsOptions& options, std::function<void(absl::Time)> valid_until = {});

}  // namespace reel::front
