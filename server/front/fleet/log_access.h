// SPDX-License-Identifier: Apache-2.0
// Credentials and encryption of a connection to the brokers.
#pragma once

#include <nats/nats.h>

#include "absl/status/status.h"
#include "server/front/fleet/fleet_log_options.h"

namespace reel::front {

bool IsEncrypted(const FleetLogOptions& options);

// Of libnats's options, with a seed (std::string). libnats 3.4 takes a signature that begins with a
// zero, as one in 256 does, for an empty text and sends none, and the server refuses the key. Such
// an attempt ends here instead, as one that failed: the next one is given another nonce.
natsStatus SignNonce(char** error, unsigned char** signature, int* size, const char* nonce,
                     void* seed);

// Into libnats's options. `options` outlives the connection: its key signs at each new one.
// FAILED_PRECONDITION: the files of TLS cannot be used.
absl::Status SetAccess(const FleetLogOptions& options, natsOptions& out);

// Why no connection was made. PERMISSION_DENIED: a server that answers does not know this one's
// key, password or certificate. FAILED_PRECONDITION: it speaks no TLS. UNAVAILABLE: anything else;
// also a certificate of another authority, since a server that ends looks the same.
absl::Status RefusedConnection(const FleetLogOptions& options, natsStatus status);

}  // namespace reel::front
