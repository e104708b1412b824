// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target over every file of a corpus, and over seeded mutations of each: what a build
// without libFuzzer can do.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

Bytes Mutate(Bytes bytes, std::mt19937& random) {
  const auto below = [&random](size_t limit) { return random() % limit; };
  for (size_t edits = 1 + below(4); edits > 0 && !bytes.empty(); --edits) {
    const size_t at = below(bytes.size());
    switch (below(5)) {
      case 0:
        bytes[at] = static_cast<uint8_t>(random());
        break;
      case 1:
        bytes[at] ^= static_cast<uint8_t>(1u << below(8));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                     static_cast<uint8_t>("0123456789[]{}\",:-.e"[below(20)]));
        break;
      default:
        std::swap(bytes[at], bytes[below(bytes.size())]);
    }
  }
  return bytes;
}

// Of a folder all its files, in an order that does not depend on the disk.
std::vector<std::filesystem::path> FilesIn(const std::filesystem::path& place) {
  if (!std::filesystem::is_directory(place)) return {place};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(place)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Bytes Read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

}  // namespace

int main(int argc, char** argv) {
  const int mutations = argc > 2 ? std::atoi(argv[1]) : 0;
  if (mutations <= 0) {
    std::fprintf(stderr, "usage: %s MUTATIONS FILE_OR_FOLDER...\n", argv[0]);
    return 2;
  }
  int files = 0;
  std::mt19937 random(20);
  for (const char* place : std::vector<const char*>(argv + 2, argv + argc)) {
    for (const std::filesystem::path& path : FilesIn(place)) {
      // Its name first, so that a crash says where.
      std::fprintf(stderr, "%s\n", path.c_str());
      const Bytes bytes = Read(path);
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
      for (int i = 0; i < mutations; ++i) {
        const Bytes mutated = Mutate(bytes, random);
        LLVMFuzzerTestOneInput(mutated.data(), mutated.size());
      }
      ++files;
    }
  }
  std::printf("%d files, %d mutations of each\n", files, mutations);
  return files == 0 ? 1 : 0;  // an empty corpus proves nothing
}
