// SPDX-License-Identifier: Apache-2.0
#include "client/command/text_table.h"

#include <algorithm>
#include <utility>

namespace reel::client {
namespace {

bool BeginsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

size_t Columns(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), BeginsCharacter));
}

}  // namespace

TextTable::TextTable(std::vector<std::string> header) { AddRow(std::move(header)); }

void TextTable::AddRow(std::vector<std::string> cells) {
  for (std::string& cell : cells) {
    for (char& byte : cell) {
      if (static_cast<unsigned char>(byte) < ' ' || byte == '\x7F') byte = ' ';
    }
  }
  rows_.push_back(std::move(cells));
}

std::string TextTable::Render() const {
  std::vector<size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Columns(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      line.append(widths[i] - Columns(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string Ellipsized(const std::string& text, size_t columns) {
  if (Columns(text) <= columns || columns < 3) return text;
  size_t end = 0;
  for (size_t seen = 0; end < text.size(); ++end) {
    if (BeginsCharacter(text[end]) && seen++ == columns - 3) break;
  }
  return text.substr(0, end) + "...";
}

std::string Bar(double share, int columns) {
  return std::string(static_cast<size_t>(std::clamp(share, 0.0, 1.0) * columns + 0.5), '#');
}

}  // namespace reel::client
