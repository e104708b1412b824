// SPDX-License-Identifier: Apache-2.0
#include "server/errors/reason_page.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/errors/reason.h"

namespace reel {
namespace {

constexpr char kIntroduction[] =
    R"(# The API and its errors

<!-- Generated from server/errors/reason.cc: REEL_WRITE_PAGES=1 build/dev/tests/reason_page_test -->

| file | what it is |
|---|---|
| [video_service.proto](reel/v1/video_service.proto) | videos: generate, create, watch, download, list, cancel, delete, estimate; files sent ahead |
| [video.proto](reel/v1/video.proto) | what a video is: its spec, its life, its events |
| [server_service.proto](reel/v1/server_service.proto) | what a server is and can do: limits, models, kernels |
| [config.proto](reel/config/v1/config.proto) | the configuration file of `reeld`, in protobuf's text format |
| [rules.proto](reel/config/v1/rules.proto) | options of the configuration's fields: default, bounds, format |
| [worker.proto](reel/worker/v1/worker.proto) | between `reeld` and its workers; no public API |
| [log.proto](reel/fleet/v1/log.proto) | what nodes of a fleet write into their log; no public API |
| [health.proto](grpc/health/v1/health.proto), [google/rpc](google/rpc/status.proto) | of others, as they are |

Within `reel.v1` source, wire and meaning stay compatible; removed numbers and names are reserved. Between `reeld`
and its workers, which are of one build, a field may go, reserved likewise. `buf lint` (STANDARD and COMMENTS on `reel/`)
and `buf breaking` are tests.

## Errors

Every status that is not OK carries `google.rpc.ErrorInfo` with the domain `reel` and one of the reasons below; each value in the message is also
in its `metadata`. What else is there depends on the situation: `BadRequest` lists every violation at once (paths as you wrote them, e.g.
`spec.width`), `RetryInfo` says when to come back, `ResourceInfo`, `QuotaFailure` and `PreconditionFailure` name what was meant.

- Retry UNAVAILABLE only, after the trailer `grpc-retry-pushback-ms` where there is one. Quota errors are for a person or a scheduler.
- A failed or cancelled video ends its streams with its own error, whose metadata has `video`; the same error is in `Video.error`.
- Two exceptions: a stream whose reader takes nothing for too long is broken off, and ends with a bare CANCELLED; a compressed request ends with
  gRPC's own UNIMPLEMENTED.
- Trailers `x-request-id` and `x-trace-id` find a call again in the server's log.

| reason | code | meaning |
|---|---|---|
)";

std::string CodeName(absl::StatusCode code) {
  return absl::AsciiStrToUpper(absl::StatusCodeToString(code));
}

}  // namespace

std::string ReasonPage() {
  std::string page = kIntroduction;
  for (const ReasonRow& row : AllReasons()) {
    absl::StrAppend(&page, "| `", std::string(row.name), "` | ", CodeName(row.code), " | ",
                    std::string(row.meaning), " |\n");
  }
  return page;
}

}  // namespace reel
