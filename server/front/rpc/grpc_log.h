// SPDX-License-Identifier: Apache-2.0
// The own lines of gRPC and protobuf in our log, so that every line is one object.
#pragma once

namespace reel::front {

// For the whole process; after InitLog. gRPC's errors are warnings to us: they tell of single
// connections, not of the server.
void TakeGrpcLog();
// Likewise. Protobuf's errors tell of single messages, whose calls say the same: they are notes.
void TakeProtobufLog();

}  // namespace reel::front
