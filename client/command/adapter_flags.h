// SPDX-License-Identifier: Apache-2.0
// The flag --adapter of requests: a name with its scales.
#pragma once

#include <string>
#include <vector>

#include "reel/v1/video.pb.h"
#include <CLI/App.hpp>

namespace reel::client {

class AdapterFlags {
 public:
  // `command` keeps references to this object.
  void AddTo(CLI::App& command);
  void Fill(v1::VideoSpec& spec) const;

 private:
  std::vector<std::string> words_;
};

}  // namespace reel::client
