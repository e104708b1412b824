// SPDX-License-Identifier: Apache-2.0
// A file that appears under its name only when it is complete.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace reel::render {

// Writes "NAME.part"; without Commit it is gone with the object. Confined to one thread at a time.
class PartFile {
 public:
  static absl::StatusOr<std::unique_ptr<PartFile>> Create(const std::string& name);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  absl::Status Write(std::string_view bytes);
  // Flushes and renames; an older file of that name is replaced.
  absl::Status Commit();

 private:
  PartFile(const std::string& name, std::FILE* file);
  absl::Status Error(std::string_view doing) const;

  std::string name_;
  std::string part_name_;
  std::FILE* file_;  // null after Commit
};

}  // namespace reel::render
