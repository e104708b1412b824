// SPDX-License-Identifier: Apache-2.0
// library.h and the public API's messages, precompiled for libraries that convert or carry them.
#pragma once

#include "deploy/build/headers/library.h"
#include "reel/v1/video.pb.h"
