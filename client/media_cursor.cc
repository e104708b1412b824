// SPDX-License-Identifier: Apache-2.0
#include "client/media_cursor.h"

#include "absl/strings/str_cat.h"
#include "kernels/base/digest/crc32c.h"

namespace reel::client {

void MediaCursor::Start(int64_t offset, int attempt) {
  offset_ = offset;
  attempt_ = attempt;
  whole_ = offset == 0;
  sha256_.Reset();
}

void MediaCursor::Restart(int attempt) { Start(0, attempt); }

MediaCursor::Verdict MediaCursor::Take(v1::MediaChunk& chunk) {
  if (Crc32c(chunk.data()) != chunk.crc32c()) return Verdict::kCorrupt;
  if (chunk.attempt() != attempt_) {
    if (chunk.attempt() < attempt_) return Verdict::kOld;
    if (offset_ != 0 && attempt_ != 0) return Verdict::kNewAttempt;
    attempt_ = chunk.attempt();
  }
  const int64_t end = chunk.offset() + static_cast<int64_t>(chunk.data().size());
  if (chunk.offset() > offset_) return Verdict::kGap;
  if (end <= offset_) return Verdict::kOld;
  if (chunk.offset() < offset_) {
    chunk.mutable_data()->erase(0, static_cast<size_t>(offset_ - chunk.offset()));
    chunk.set_offset(offset_);
    chunk.set_crc32c(Crc32c(chunk.data()));
  }
  offset_ = end;
  if (whole_) sha256_.Update(chunk.data());
  return Verdict::kNew;
}

absl::Status MediaCursor::CheckComplete(const v1::MediaInfo& media) {
  if (offset_ < media.size_bytes()) {
    return absl::UnavailableError(absl::StrCat("The stream ended before the file did: ", offset_,
                                               " of ", media.size_bytes(), " bytes."));
  }
  if (offset_ > media.size_bytes()) {
    return absl::DataLossError(absl::StrCat("More bytes were received than the file has: ", offset_,
                                            " bytes, it has ", media.size_bytes(), "."));
  }
  if (!whole_) return absl::OkStatus();
  const std::string received = sha256_.Hex();
  if (received == media.sha256()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("The received file has the wrong SHA-256: ", received,
                                          ", expected ", media.sha256(), "."));
}

}  // namespace reel::client
