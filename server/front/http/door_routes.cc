// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/door_routes.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

constexpr std::string_view kId = "{id}";

// In the order of the enumeration.
constexpr DoorRouteRow kRows[] = {
    {DoorRoute::kCreate, "POST", "/reel/v1/videos", Method::kCreateVideo, DoorTakes::kJson, false},
    {DoorRoute::kGenerate, "POST", "/reel/v1/videos:generate", Method::kGenerateVideo,
     DoorTakes::kJson, false},
    {DoorRoute::kEstimate, "POST", "/reel/v1/videos:estimate", Method::kEstimateVideo,
     DoorTakes::kJson, false},
    {DoorRoute::kFile, "POST", "/reel/v1/files", Method::kUploadFile, DoorTakes::kFile, false},
    {DoorRoute::kList, "GET", "/reel/v1/videos", Method::kListVideos, DoorTakes::kNothing, false},
    {DoorRoute::kGet, "GET", "/reel/v1/videos/{id}", Method::kGetVideo, DoorTakes::kNothing, false},
    {DoorRoute::kCancel, "POST", "/reel/v1/videos/{id}:cancel", Method::kCancelVideo,
     DoorTakes::kNothing, false},
    {DoorRoute::kDelete, "DELETE", "/reel/v1/videos/{id}", Method::kDeleteVideo,
     DoorTakes::kNothing, false},
    {DoorRoute::kEvents, "GET", "/reel/v1/videos/{id}/events", Method::kWatchVideo,
     DoorTakes::kNothing, false, "after_sequence previews"},
    {DoorRoute::kMedia, "GET", "/reel/v1/videos/{id}/media", Method::kDownloadVideo,
     DoorTakes::kNothing, true, "attempt"},
    {DoorRoute::kServer, "GET", "/reel/v1/server", Method::kGetServerInfo, DoorTakes::kNothing,
     false},
    {DoorRoute::kModels, "GET", "/reel/v1/models", Method::kListModels, DoorTakes::kNothing, false},
    {DoorRoute::kLoadModel, "POST", "/reel/v1/models/{id}:load", Method::kLoadModel,
     DoorTakes::kNothing, false},
    {DoorRoute::kUnloadModel, "POST", "/reel/v1/models/{id}:unload", Method::kUnloadModel,
     DoorTakes::kNothing, false},
    {DoorRoute::kKernels, "GET", "/reel/v1/kernels", Method::kListKernels, DoorTakes::kNothing,
     false},
    {DoorRoute::kExperiments, "GET", "/reel/v1/experiments", Method::kListExperiments,
     DoorTakes::kNothing, false},
    {DoorRoute::kFleet, "GET", "/reel/v1/fleet", Method::kGetFleet, DoorTakes::kNothing, false},
    {DoorRoute::kOpenApi, "GET", "/reel/v1/openapi.json", Method::kGetServerInfo,
     DoorTakes::kNothing, false},
    {DoorRoute::kFacadeCreate, "POST", "/v1/videos", Method::kCreateVideo, DoorTakes::kJsonOrForm,
     false},
    {DoorRoute::kFacadeSync, "POST", "/v1/videos/sync", Method::kGenerateVideo,
     DoorTakes::kJsonOrForm, false},
    {DoorRoute::kFacadeList, "GET", "/v1/videos", Method::kListVideos, DoorTakes::kNothing, false,
     "after limit order"},
    {DoorRoute::kFacadeGet, "GET", "/v1/videos/{id}", Method::kGetVideo, DoorTakes::kNothing,
     false},
    {DoorRoute::kFacadeContent, "GET", "/v1/videos/{id}/content", Method::kDownloadVideo,
     DoorTakes::kNothing, true, "variant"},
    {DoorRoute::kFacadeDelete, "DELETE", "/v1/videos/{id}", Method::kDeleteVideo,
     DoorTakes::kNothing, false},
    {DoorRoute::kFacadeRemix, "POST", "/v1/videos/{id}/remix", Method::kCreateVideo,
     DoorTakes::kJsonOrForm, false},
    {DoorRoute::kFacadeModels, "GET", "/v1/models", Method::kListModels, DoorTakes::kNothing,
     false},
    {DoorRoute::kFacadeModel, "GET", "/v1/models/{id}", Method::kListModels, DoorTakes::kNothing,
     false},
    {DoorRoute::kFacadeModelInfo, "GET", "/v1/model_info", Method::kListModels, DoorTakes::kNothing,
     false},
    {DoorRoute::kFacadeHealth, "GET", "/health", Method::kHealthCheck, DoorTakes::kNothing, true},
    {DoorRoute::kPage, "GET", "/", Method::kHealthCheck, DoorTakes::kNothing, true},
    {DoorRoute::kPageScript, "GET", "/app.js", Method::kHealthCheck, DoorTakes::kNothing, true},
    {DoorRoute::kPageStyle, "GET", "/app.css", Method::kHealthCheck, DoorTakes::kNothing, true},
};

constexpr bool InOrder() {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (static_cast<size_t>(kRows[i].route) != i) return false;
  }
  return true;
}
static_assert(InOrder());

// The id where the path fits; it is checked where names are.
std::optional<std::string> Fit(std::string_view pattern, std::string_view path) {
  const size_t hole = pattern.find(kId);
  if (hole == std::string_view::npos) {
    return path == pattern ? std::optional<std::string>("") : std::nullopt;
  }
  const std::string_view before = pattern.substr(0, hole);
  const std::string_view after = pattern.substr(hole + kId.size());
  if (path.size() <= before.size() + after.size() || path.substr(0, hole) != before) {
    return std::nullopt;
  }
  const std::string_view rest = path.substr(hole);
  if (rest.substr(rest.size() - after.size()) != after) return std::nullopt;
  const std::string_view id = rest.substr(0, rest.size() - after.size());
  if (id.find_first_of("/:%") != std::string_view::npos) return std::nullopt;
  return std::string(id);
}

}  // namespace

absl::Span<const DoorRouteRow> AllDoorRoutes() { return kRows; }

const DoorRouteRow& RowOf(DoorRoute route) { return kRows[static_cast<size_t>(route)]; }

absl::Status NoSuchRoute() {
  return MakeError(Reason::kRouteNotFound,
                   "There is no such route; /reel/v1/videos, /reel/v1/models and /v1/videos are "
                   "some of them");
}

absl::StatusOr<DoorRouteMatch> MatchDoorRoute(std::string_view method, std::string_view path) {
  DoorRouteMatch match;
  bool known = false;
  for (const DoorRouteRow& row : kRows) {
    auto id = Fit(row.pattern, path);
    if (!id) continue;
    known = true;
    match.id = *std::move(id);
    if (method == row.method || (row.head && method == "HEAD")) {
      match.row = &row;
      return match;
    }
    const std::string own(row.method);
    absl::StrAppend(&match.allow, match.allow.empty() ? "" : ", ", own, row.head ? ", HEAD" : "");
  }
  if (known) return match;
  return NoSuchRoute();
}

}  // namespace reel::front
