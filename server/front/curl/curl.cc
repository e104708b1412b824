// SPDX-License-Identifier: Apache-2.0
#include "server/front/curl/curl.h"

#include <algorithm>
#include <cstdint>

namespace reel::front {

void SetTransport(CURL* handle, const char* url) {
  curl_easy_setopt(handle, CURLOPT_URL, url);
  curl_easy_setopt(handle, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_PROXY, "");
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(handle, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
}

long CurlMilliseconds(absl::Duration duration) {
  return static_cast<long>(std::max<int64_t>(absl::ToInt64Milliseconds(duration), 1));
}

}  // namespace reel::front
