// SPDX-License-Identifier: Apache-2.0
// messages.h and gRPC, precompiled for libraries that make or serve calls.
#pragma once

#include <grpcpp/grpcpp.h>

#include "deploy/build/headers/messages.h"
