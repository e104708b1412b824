// SPDX-License-Identifier: Apache-2.0
// libcurl's handles, each freed by its type, and the settings that every HTTP request of this
// server has.
#pragma once

#include <curl/curl.h>

#include <memory>

#include "absl/time/time.h"

namespace reel::front {

// libcurl's own set-up, counted: whoever has handles has one of these, and makes it first.
class CurlLibrary {
 public:
  CurlLibrary() { curl_global_init(CURL_GLOBAL_DEFAULT); }
  ~CurlLibrary() { curl_global_cleanup(); }
  CurlLibrary(const CurlLibrary&) = delete;
  CurlLibrary& operator=(const CurlLibrary&) = delete;
};

struct FreeCurl {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
using CurlHandle = std::unique_ptr<CURL, FreeCurl>;

// Carries out calls whose wait another thread can end.
struct FreeCurlMulti {
  void operator()(CURLM* handle) const { curl_multi_cleanup(handle); }
};
using CurlMulti = std::unique_ptr<CURLM, FreeCurlMulti>;

// Header lines of a request.
class CurlHeaders {
 public:
  CurlHeaders() = default;
  ~CurlHeaders() { curl_slist_free_all(list_); }
  CurlHeaders(const CurlHeaders&) = delete;
  CurlHeaders& operator=(const CurlHeaders&) = delete;

  void Add(const char* line) {
    curl_slist* const longer = curl_slist_append(list_, line);
    if (longer != nullptr) list_ = longer;
  }
  curl_slist* get() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

// Settings that every HTTP request of this server over libcurl has.

// To `url`, over HTTP/1.1 or with TLS 1.2 and newer; nothing else, and no redirect is followed.
// Nothing of the environment and of the user's files counts: no proxy, no .netrc.
void SetTransport(CURL* handle, const char* url);

// For options that count milliseconds and take 0 for no limit: at least 1.
long CurlMilliseconds(absl::Duration duration);

}  // namespace reel::front
