// SPDX-License-Identifier: Apache-2.0
// Edges of the histograms: seconds, but for the ratios, decibels, rows and jobs.
#pragma once

#include <vector>

namespace reel::front::buckets {

using Edges = std::vector<double>;

// A whole video.
inline Edges Video() {
  return {0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1200};
}
inline Edges Stage() { return {0.005, 0.02, 0.05, 0.1, 0.5, 1, 5, 20, 60, 300}; }
inline Edges Call() { return {0.005, 0.05, 0.5, 5, 60, 600}; }
inline Edges Step() {
  return {0.002, 0.005, 0.01,  0.015, 0.02, 0.025, 0.03, 0.035,
          0.04,  0.05,  0.075, 0.1,   0.15, 0.25,  0.5,  1};
}
// Things that should take no time.
inline Edges Event() { return {0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5}; }
inline Edges Kernel() { return {2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 3e-3, 1e-2}; }
inline Edges Ratio() { return {0.01, 0.02, 0.05, 0.1, 0.15, 0.25, 0.5, 1}; }
// Of a picture against another one.
inline Edges Decibels() { return {20, 25, 30, 35, 40, 45, 50, 60, 70}; }
inline Edges Rows() { return {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}; }
inline Edges Jobs() { return {1, 2, 3, 4, 6, 8, 12, 16}; }

}  // namespace reel::front::buckets
