// SPDX-License-Identifier: Apache-2.0
// The tables that the reel command prints.
#pragma once

#include <string>
#include <vector>

namespace reel::client {

// Lines of cells under a header, in columns as wide as their widest cell; two spaces between
// columns, none at a line's end. Control characters in cells become spaces. Widths count UTF-8
// characters.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);
  void AddRow(std::vector<std::string> cells);
  std::string Render() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// At most `columns` characters of UTF-8 text, the last three dots where it was cut.
std::string Ellipsized(const std::string& text, size_t columns);

// A share from 0 to 1 as that part of `columns` characters; more than 1 is 1.
std::string Bar(double share, int columns);

}  // namespace reel::client
