// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/door_guard.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

// "name:port" to name; an IPv6 address keeps its brackets.
absl::string_view WithoutPort(absl::string_view host) {
  const size_t colon = host.rfind(':');
  const size_t bracket = host.rfind(']');
  if (colon == absl::string_view::npos || (bracket != absl::string_view::npos && colon < bracket)) {
    return host;
  }
  return host.substr(0, colon);
}

bool Changes(const DoorHead& head) { return head.method != "GET" && head.method != "HEAD"; }

absl::Status RefuseOrigin(std::string_view origin) {
  return MakeError(Reason::kOriginRefused,
                   "A web page of another origin may not ask for a change; http.allow_origins "
                   "names those that may",
                   {.metadata = {{"origin", std::string(origin)}}});
}

}  // namespace

bool DoorGuard::Allowed(std::string_view origin) const {
  return std::find(options_.allow_origins.begin(), options_.allow_origins.end(), origin) !=
         options_.allow_origins.end();
}

absl::Status DoorGuard::Check(const DoorHead& head) const {
  const std::string_view given = head.Find("host");
  const absl::string_view host(given.data(), given.size());
  if (options_.loopback) {
    const absl::string_view name = WithoutPort(host);
    const bool known =
        absl::EqualsIgnoreCase(name, "localhost") || name == "127.0.0.1" || name == "[::1]" ||
        std::any_of(options_.hosts.begin(), options_.hosts.end(),
                    [name](const std::string& own) { return absl::EqualsIgnoreCase(name, own); });
    if (!known) {
      return MakeError(Reason::kHostRefused,
                       "The Host field must be localhost, 127.0.0.1, [::1] or one of http.hosts");
    }
  }
  if (!Changes(head)) return absl::OkStatus();
  const std::string_view origin = head.Find("origin");
  const absl::string_view text(origin.data(), origin.size());
  const bool own = text == absl::StrCat("http://", host) || text == absl::StrCat("https://", host);
  if (!origin.empty() && !own && !Allowed(origin)) return RefuseOrigin(origin);
  if (origin.empty() && head.Find("sec-fetch-site") == "cross-site") return RefuseOrigin("");
  return absl::OkStatus();
}

bool DoorGuard::IsPreflight(const DoorHead& head) const {
  return head.method == "OPTIONS" && head.Count("access-control-request-method") > 0 &&
         Allowed(head.Find("origin"));
}

DoorReply DoorGuard::Preflight() const {
  DoorReply reply;
  reply.status = 204;
  reply.Add("Access-Control-Allow-Methods", "GET, HEAD, POST, DELETE");
  reply.Add("Access-Control-Allow-Headers",
            "authorization, content-type, idempotency-key, if-range, last-event-id, prefer, range");
  reply.Add("Access-Control-Max-Age", "600");
  return reply;
}

void DoorGuard::AddFields(const DoorHead& head, DoorReply& reply) const {
  const std::string_view origin = head.Find("origin");
  const bool shared = !origin.empty() && Allowed(origin);
  reply.Add("Cross-Origin-Resource-Policy", shared ? "cross-origin" : "same-origin");
  if (!options_.allow_origins.empty()) reply.Add("Vary", "Origin");
  if (!shared) return;
  reply.Add("Access-Control-Allow-Origin", std::string(origin));
  reply.Add("Access-Control-Expose-Headers",
            "X-Request-Id, Content-Range, ETag, Server-Timing, Retry-After");
}

}  // namespace reel::front
