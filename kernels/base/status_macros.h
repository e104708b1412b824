// SPDX-License-Identifier: Apache-2.0
// The two status macros of the tree; this abseil release has none.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns the status of `expression` from the enclosing function unless it is OK.
#define REEL_RETURN_IF_ERROR(expression)                                                     \
  do {                                                                                       \
    if (::absl::Status reel_status_ = (expression); !reel_status_.ok()) return reel_status_; \
  } while (false)

// Assigns the value of `expression`, a StatusOr, to `lhs`, or returns its status.
#define REEL_ASSIGN_OR_RETURN(lhs, expression) \
  REEL_ASSIGN_OR_RETURN_(REEL_CONCAT_(reel_status_or_, __LINE__), lhs, expression)

#define REEL_CONCAT_INNER_(a, b) a##b
#define REEL_CONCAT_(a, b) REEL_CONCAT_INNER_(a, b)
#define REEL_ASSIGN_OR_RETURN_(holder, lhs, expression) \
  auto holder = (expression);                           \
  if (!holder.ok()) return std::move(holder).status();  \
  lhs = *std::move(holder)
