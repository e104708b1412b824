// SPDX-License-Identifier: Apache-2.0
// Every route of the door, and the RPC that it stands for.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/front/api/method_table.h"

namespace reel::front {

enum class DoorRoute {
  kCreate,
  kGenerate,
  kEstimate,
  kFile,
  kList,
  kGet,
  kCancel,
  kDelete,
  kEvents,
  kMedia,
  kServer,
  kModels,
  kLoadModel,
  kUnloadModel,
  kKernels,
  kExperiments,
  kFleet,
  kOpenApi,
  // In the shape of the OpenAI videos API.
  kFacadeCreate,
  kFacadeSync,
  kFacadeList,
  kFacadeGet,
  kFacadeContent,
  kFacadeDelete,
  kFacadeRemix,
  kFacadeModels,
  kFacadeModel,
  kFacadeModelInfo,
  kFacadeHealth,
  kPage,
  kPageScript,
  kPageStyle,
};

// A request's body.
// `kFile`: what it is itself, taken in as the disk does.
enum class DoorTakes { kNothing, kJson, kJsonOrForm, kFile };

struct DoorRouteRow {
  DoorRoute route;
  std::string_view method;   // GET routes answer HEAD too where `head`
  std::string_view pattern;  // with "{id}" for a video's or model's
  Method rpc;                // whose role the caller needs
  DoorTakes takes;
  bool head;
  std::string_view query = "";  // names that its query may have, "a b"; kList: its request's fields
};

absl::Span<const DoorRouteRow> AllDoorRoutes();
const DoorRouteRow& RowOf(DoorRoute route);

struct DoorRouteMatch {
  const DoorRouteRow* row = nullptr;
  std::string id;     // where the pattern has one
  std::string allow;  // the methods of the path, where the one asked for is none of them
};

constexpr bool IsOfPage(DoorRoute route) { return route >= DoorRoute::kPage; }

absl::Status NoSuchRoute();

// ROUTE_NOT_FOUND for an unknown path. For a known path and another method the row is null.
absl::StatusOr<DoorRouteMatch> MatchDoorRoute(std::string_view method, std::string_view path);

}  // namespace reel::front
