// SPDX-License-Identifier: Apache-2.0
#include "model/weights/gguf_cursor.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"

namespace reel::model {

absl::Status GgufCursor::Ended() const {
  return absl::FailedPreconditionError(
      absl::StrCat("the file ends inside its header, at byte ", bytes_.size()));
}

absl::StatusOr<std::string_view> GgufCursor::Text(uint64_t most_bytes) {
  REEL_ASSIGN_OR_RETURN(const uint64_t bytes, Number<uint64_t>());
  if (bytes > left()) return Ended();
  if (bytes > most_bytes) {
    return absl::FailedPreconditionError(
        absl::StrCat("a text is too long: ", bytes, " bytes, the limit is ", most_bytes));
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes_.data()) + at_,
                              static_cast<size_t>(bytes));
  at_ += text.size();
  return text;
}

absl::Status GgufCursor::Skip(uint64_t count, uint64_t bytes) {
  if (count > left() / bytes) return Ended();
  at_ += static_cast<size_t>(count * bytes);
  return absl::OkStatus();
}

}  // namespace reel::model
