// SPDX-License-Identifier: Apache-2.0
// gRPC's own lines in our log, so that every line is one object.
#pragma once

namespace reel::front {

// For the whole process; after InitLog. Its errors are warnings to us: they tell of single
// connections, not of the server.
void TakeGrpcLog();

}  // namespace reel::front
