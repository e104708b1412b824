// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/page_files.h"

namespace reel::front {
namespace {

// Only its own files and the door; pictures and videos that the script was given.
constexpr char kPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "media-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

}  // namespace

DoorReply PageReply(std::string_view path) {
  const bool script = path == "/app.js";
  const bool style = path == "/app.css";
  DoorReply reply;
  reply.Add("Content-Type", script  ? "text/javascript; charset=utf-8"
                            : style ? "text/css; charset=utf-8"
                                    : "text/html; charset=utf-8");
  reply.Add("Cache-Control", "no-cache");
  reply.Add("Content-Security-Policy", kPolicy);
  reply.body = std::string(script ? PageScript() : style ? PageStyle() : PageHtml());
  return reply;
}

}  // namespace reel::front
