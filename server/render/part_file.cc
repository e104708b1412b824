// SPDX-License-Identifier: Apache-2.0
#include "server/render/part_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace reel::render {

absl::StatusOr<std::unique_ptr<PartFile>> PartFile::Create(const std::string& name) {
  std::FILE* file = std::fopen((name + ".part").c_str(), "wb");
  if (file == nullptr) {
    return absl::InternalError(
        absl::StrCat("Cannot create the file: ", name, ".part: ", std::strerror(errno)));
  }
  return std::unique_ptr<PartFile>(new PartFile(name, file));
}

PartFile::PartFile(const std::string& name, std::FILE* file)
    : name_(name), part_name_(name + ".part"), file_(file) {}

PartFile::~PartFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  std::remove(part_name_.c_str());
}

absl::Status PartFile::Error(std::string_view doing) const {
  return absl::InternalError(absl::StrCat("Cannot ", std::string(doing), " the file: ", part_name_,
                                          ": ", std::strerror(errno)));
}

absl::Status PartFile::Write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) return Error("write");
  return absl::OkStatus();
}

absl::Status PartFile::Commit() {
  if (std::fflush(file_) != 0 || fsync(fileno(file_)) != 0) return Error("write");
  if (std::rename(part_name_.c_str(), name_.c_str()) != 0) return Error("rename");
  std::fclose(file_);
  file_ = nullptr;
  return absl::OkStatus();
}

}  // namespace reel::render
