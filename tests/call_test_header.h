// SPDX-License-Identifier: Apache-2.0
// test_header.h and the public API, precompiled for tests that make or serve calls.
#pragma once

#include <grpcpp/grpcpp.h>

#include "reel/v1/server_service.grpc.pb.h"
#include "reel/v1/video_service.grpc.pb.h"
#include "tests/test_header.h"
