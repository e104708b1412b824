// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/state_pieces.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/digest/sha256.h"

namespace reel::front {

void StatePieces::Add(int64_t offset, std::string bytes) {
  if (!spoilt_.ok()) return;
  if (offset != size_) {
    return Spoil(absl::DataLossError(absl::StrCat("its worker sent the bytes at ", offset,
                                                  " where those at ", size_, " were due")));
  }
  const auto more = static_cast<int64_t>(bytes.size());
  if (size_ + more > most_) {
    return Spoil(absl::ResourceExhaustedError(
        absl::StrCat("it has more than ", most_, " bytes, the server's state.max_bytes")));
  }
  if (total_->fetch_add(more) + more > 2 * most_) {
    *total_ -= more;
    return Spoil(absl::ResourceExhaustedError("too many other states were on their way"));
  }
  size_ += more;
  pieces_.push_back(std::move(bytes));
}

void StatePieces::End(int64_t size, const std::string& sha256) {
  sha256_ = sha256;
  if (!spoilt_.ok() || size == size_) return;
  Spoil(absl::DataLossError(absl::StrCat("its worker sent ", size_, " bytes and reported ", size)));
}

absl::StatusOr<std::string> StatePieces::Join() const {
  std::string all;
  all.reserve(static_cast<size_t>(size_));
  for (const std::string& piece : pieces_) all += piece;
  if (Sha256Hex(all) != sha256_) {
    return absl::DataLossError("its worker sent other bytes than it reported");
  }
  return all;
}

void StatePieces::Spoil(absl::Status why) {
  spoilt_ = std::move(why);
  Drop();
}

void StatePieces::Drop() {
  *total_ -= size_;
  size_ = 0;
  pieces_.clear();
}

}  // namespace reel::front
