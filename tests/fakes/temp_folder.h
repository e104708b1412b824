// SPDX-License-Identifier: Apache-2.0
// A folder of its own for a test, removed with it.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace reel::testing {

class TempFolder {
 public:
  TempFolder() : TempFolder(std::filesystem::temp_directory_path()) {}
  explicit TempFolder(const std::filesystem::path& parent) {
    std::string name = (parent / "reel-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }

  // In memory where there is room, for tests whose times may not hang on a disk.
  static std::filesystem::path Fast() {
    std::error_code error;
    const std::filesystem::path memory = "/dev/shm";
    const std::filesystem::space_info space = std::filesystem::space(memory, error);
    const bool fits = !error && space.available >= (uintmax_t{2} << 30);
    return fits && ::access(memory.c_str(), W_OK) == 0 ? memory
                                                       : std::filesystem::temp_directory_path();
  }

  std::string File(const std::string& name) const { return path_ + "/" + name; }
  bool Has(const std::string& name) const { return std::filesystem::exists(File(name)); }
  // Empty when there is no such file.
  std::string Read(const std::string& name) const {
    std::ifstream in(File(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // Returns its path.
  std::string Write(const std::string& name, const std::string& content) const {
    std::ofstream(File(name), std::ios::binary) << content;
    return File(name);
  }

 private:
  std::string path_;
};

}  // namespace reel::testing
