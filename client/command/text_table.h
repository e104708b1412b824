// SPDX-License-Identifier: Apache-2.0
// Formats the tables of the reel command.
#pragma once

#include <string>
#include <vector>

namespace reel::client {

// Lines of cells under a header; columns are as wide as their widest cell, two spaces apart,
// without trailing spaces. Control characters become spaces. Widths count UTF-8 characters.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);
  void AddRow(std::vector<std::string> cells);
  std::string Render() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// At most `columns` characters of UTF-8 text; a cut text ends in three dots.
std::string Ellipsized(const std::string& text, size_t columns);

// A bar for a share from 0 to 1 of `columns` characters; larger shares count as 1.
std::string Bar(double share, int columns);

}  // namespace reel::client
