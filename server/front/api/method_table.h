// SPDX-License-Identifier: Apache-2.0
// Every RPC that Reel serves, and who may call it. A test holds the table against the descriptors.
#pragma once

#include <optional>
#include <string_view>

#include "absl/types/span.h"
#include "server/front/config/token_table.h"

namespace reel::front {

enum class Method {
  kGenerateVideo,
  kCreateVideo,
  kGetVideo,
  kListVideos,
  kWatchVideo,
  kCancelVideo,
  kDeleteVideo,
  kDownloadVideo,
  kEstimateVideo,
  kUploadFile,
  kGetServerInfo,
  kListModels,
  kListKernels,
  kLoadModel,
  kUnloadModel,
  kListExperiments,
  kRestoreWorker,
  kGetFleet,
  kCheckFleet,
  kHealthCheck,
  kHealthList,
  kHealthWatch,
};

struct MethodRow {
  Method method;
  std::string_view service;  // "reel.v1.VideoService"
  std::string_view name;     // "GetVideo"
  bool streams;              // its answer
  // The least role that may call it; nullopt: anybody, also without a token.
  std::optional<Role> role;
  bool measured;  // has a histogram of its durations
};

absl::Span<const MethodRow> AllMethods();
const MethodRow& RowOf(Method method);

}  // namespace reel::front
