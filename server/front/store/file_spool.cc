// SPDX-License-Identifier: Apache-2.0
#include "server/front/store/file_spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/content_type.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

absl::Status WrongSize(int64_t said, int64_t came, bool ended) {
  return MakeInvalid(
      Reason::kInvalidRequest,
      {{"size_bytes", absl::StrCat("must be that of the file: ", said, " were said, ",
                                   ended ? "" : "at least ", came, " came")}});
}

}  // namespace

absl::Status ClearSpool(const std::string& folder) {
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (!error) std::filesystem::create_directory(folder, error);
  if (!error) std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  if (!error) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("The folder for uploads cannot be made: ", folder, ": ", error.message()));
}

absl::StatusOr<std::unique_ptr<FileSpool>> FileSpool::Open(const std::string& folder,
                                                           int64_t number, int64_t whole) {
  std::string path = absl::StrCat(folder, "/", number);
  Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.ok()) return WriteError(errno);
  return std::unique_ptr<FileSpool>(new FileSpool(std::move(path), std::move(file), whole));
}

FileSpool::~FileSpool() { ::unlink(path_.c_str()); }

absl::Status FileSpool::Append(std::string_view bytes) {
  const int64_t after = size_ + std::ssize(bytes);
  if (after > whole_) return WrongSize(whole_, after, false);
  REEL_RETURN_IF_ERROR(WriteAll(ops_, file_.get(), bytes));
  hash_.Update(bytes);
  head_ +=
      bytes.substr(0, model::kContentTypeBytes - std::min(head_.size(), model::kContentTypeBytes));
  size_ = after;
  return absl::OkStatus();
}

absl::StatusOr<FileSpool::Whole> FileSpool::Finish(const std::string& sha256) {
  if (size_ != whole_) return WrongSize(whole_, size_, true);
  Whole whole{hash_.Hex(), std::string(model::ContentTypeOf(head_))};
  if (!sha256.empty() && sha256 != whole.sha256) {
    return MakeInvalid(Reason::kInvalidRequest,
                       {{"sha256", absl::StrCat("is not that of these bytes; leave it out, or "
                                                "send: ",
                                                whole.sha256)}});
  }
  if (whole.content_type.empty()) {
    return MakeInvalid(Reason::kInvalidRequest,
                       {{"data",
                         "must be a PNG, JPEG or WebP, an MP4, or a sound: WAV, FLAC or MP3; its "
                         "first bytes are of none of them"}});
  }
  return whole;
}

absl::StatusOr<std::string> FileSpool::Read() const {
  std::string bytes(static_cast<size_t>(size_), '\0');
  std::ifstream in(path_, std::ios::binary);
  if (in.read(bytes.data(), size_)) return bytes;
  return absl::DataLossError("the disk does not give back a file that was sent");
}

}  // namespace reel::front
