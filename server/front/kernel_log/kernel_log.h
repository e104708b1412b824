// SPDX-License-Identifier: Apache-2.0
// Follows the kernel's log from now on.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/statusor.h"
#include "server/front/workers/file_descriptor.h"
#include "server/logging/line_splitter.h"

namespace reel::front {

class KernelLog {
 public:
  using OnLine = std::function<void(std::string_view line)>;

  // `path`: /dev/kmsg, or a file that a log daemon appends to. `on_line` is called on a thread of
  // its own, with what comes after this call, until the end. An error: this server may not read it.
  static absl::StatusOr<std::unique_ptr<KernelLog>> Follow(const std::string& path, OnLine on_line);
  ~KernelLog();
  KernelLog(const KernelLog&) = delete;
  KernelLog& operator=(const KernelLog&) = delete;

 private:
  KernelLog(FileDescriptor log, FileDescriptor stop, OnLine on_line);

  void Run();
  // False: there is nothing to read, for now.
  bool Read();

  const FileDescriptor log_, stop_;
  const OnLine on_line_;
  LineSplitter lines_;
  std::thread thread_;
};

}  // namespace reel::front
