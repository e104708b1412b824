// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/method_table.h"

namespace reel::front {
namespace {

constexpr std::string_view kVideo = "reel.v1.VideoService";
constexpr std::string_view kServer = "reel.v1.ServerService";
constexpr std::string_view kHealth = "grpc.health.v1.Health";

// In the order of the enumeration. Probes carry no token, and see nothing but one bit.
constexpr MethodRow kRows[] = {
    {Method::kGenerateVideo, kVideo, "GenerateVideo", true, Role::kUser, true},
    {Method::kCreateVideo, kVideo, "CreateVideo", false, Role::kUser, true},
    {Method::kGetVideo, kVideo, "GetVideo", false, Role::kViewer, true},
    {Method::kListVideos, kVideo, "ListVideos", false, Role::kViewer, true},
    {Method::kWatchVideo, kVideo, "WatchVideo", true, Role::kViewer, true},
    {Method::kCancelVideo, kVideo, "CancelVideo", false, Role::kUser, true},
    {Method::kDeleteVideo, kVideo, "DeleteVideo", false, Role::kUser, true},
    {Method::kDownloadVideo, kVideo, "DownloadVideo", true, Role::kViewer, true},
    {Method::kEstimateVideo, kVideo, "EstimateVideo", false, Role::kViewer, true},
    {Method::kUploadFile, kVideo, "UploadFile", false, Role::kUser, true},
    {Method::kGetServerInfo, kServer, "GetServerInfo", false, Role::kViewer, true},
    {Method::kListModels, kServer, "ListModels", false, Role::kViewer, true},
    {Method::kListKernels, kServer, "ListKernels", false, Role::kViewer, true},
    {Method::kLoadModel, kServer, "LoadModel", false, Role::kAdmin, true},
    {Method::kUnloadModel, kServer, "UnloadModel", false, Role::kAdmin, true},
    {Method::kListExperiments, kServer, "ListExperiments", false, Role::kViewer, true},
    {Method::kRestoreWorker, kServer, "RestoreWorker", false, Role::kAdmin, true},
    {Method::kGetFleet, kServer, "GetFleet", false, Role::kAdmin, true},
    {Method::kCheckFleet, kServer, "CheckFleet", false, Role::kAdmin, true},
    {Method::kHealthCheck, kHealth, "Check", false, std::nullopt, false},
    {Method::kHealthList, kHealth, "List", false, std::nullopt, false},
    {Method::kHealthWatch, kHealth, "Watch", true, std::nullopt, false},
};

constexpr bool InOrder() {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (static_cast<size_t>(kRows[i].method) != i) return false;
  }
  return true;
}
static_assert(InOrder());

}  // namespace

absl::Span<const MethodRow> AllMethods() { return kRows; }

const MethodRow& RowOf(Method method) { return kRows[static_cast<size_t>(method)]; }

}  // namespace reel::front
