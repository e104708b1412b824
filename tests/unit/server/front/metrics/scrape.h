// SPDX-License-Identifier: Apache-2.0
// Reads values out of the text that Prometheus would scrape.
#pragma once

#include <sstream>
#include <string>

namespace reel::front {

// The value of the series written exactly so, e.g. `reel_frames_total` or `x{a="b"}`; -1 when it is
// not there.
inline double ValueOf(const std::string& text, const std::string& series) {
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    if (line.rfind(series + " ", 0) == 0) return std::stod(line.substr(series.size() + 1));
  }
  return -1;
}

}  // namespace reel::front
