// SPDX-License-Identifier: Apache-2.0
// The head of an HTTP/1 request, and what is answered to it, as text. Knows no sockets.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace reel::front {

constexpr size_t kMaxHeadBytes = 8 * 1024;

struct HttpRequest {
  std::string method;
  std::string path;  // without the query
  bool has_body = false;
};

// Bytes of the head with its blank line; 0 while it is not whole.
size_t HeadLength(std::string_view received);
// Of a whole head; none where it is not HTTP/1.
std::optional<HttpRequest> ParseHead(std::string_view head);

struct HttpAnswer {
  int status = 200;
  std::string body;
  std::string_view content_type = "text/plain; charset=utf-8";
};

// The connection ends with the answer: "Connection: close". Without the body for HEAD.
std::string WriteAnswer(const HttpAnswer& answer, bool with_body = true);

}  // namespace reel::front
