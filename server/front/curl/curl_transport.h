// SPDX-License-Identifier: Apache-2.0
// Settings that every HTTP request of this server over libcurl has.
#pragma once

#include <curl/curl.h>

#include "absl/time/time.h"

namespace reel::front {

// To `url`, over HTTP/1.1 or with TLS 1.2 and newer; nothing else, and no redirect is followed.
// Nothing of the environment and of the user's files counts: no proxy, no .netrc.
void SetTransport(CURL* handle, const char* url);

// For options that count milliseconds and take 0 for no limit: at least 1.
long CurlMilliseconds(absl::Duration duration);

}  // namespace reel::front
