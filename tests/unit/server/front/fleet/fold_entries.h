// SPDX-License-Identifier: Apache-2.0
// Messages of one video, and of one request id, for the tests of the fold.
#pragma once

#include <string>
#include <utility>

#include "server/front/fleet/log_fold.h"

namespace reel::front {

inline FoldEntry Request() { return {0, {"t", "a", LogKind::kRequest, 0}, RequestSaid{}}; }
inline FoldEntry Claim(uint32_t epoch, std::string node) {
  return {0, {"t", "a", LogKind::kClaim, epoch}, ClaimSaid{std::move(node)}};
}
inline FoldEntry Finish(uint32_t epoch, std::string node, FinishKind kind) {
  return {0, {"t", "a", LogKind::kFinish, epoch}, FinishSaid{std::move(node), kind}};
}
inline FoldEntry Wish(CancelKind kind = CancelKind::kCancelled) {
  return {0, {"t", "a", LogKind::kCancel, 0}, CancelSaid{kind}};
}
inline FoldEntry Bind(uint32_t number, std::string video, std::string request_id = "r") {
  return {0,
          {"t", std::move(request_id), LogKind::kBinding, number},
          BindingSaid{std::move(video), "hash"}};
}
inline FoldEntry Deletion() { return {0, {"t", "a", LogKind::kDelete, 0}, DeleteSaid{}}; }
inline FoldEntry Junk() { return {0, {"t", "a", LogKind::kRequest, 0}, UnreadableSaid{}}; }

inline constexpr FinishKind kDone = FinishKind::kSucceeded;
inline constexpr FinishKind kBroke = FinishKind::kFailed;
inline constexpr FinishKind kBack = FinishKind::kReleased;

}  // namespace reel::front
