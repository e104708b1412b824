// SPDX-License-Identifier: Apache-2.0
#include "server/logging/line_splitter.h"

#include <algorithm>

namespace reel {

void LineSplitter::Add(std::string_view bytes, Sink sink) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    line_.append(piece.substr(0, kMaxLine - std::min(kMaxLine, line_.size())));
    if (end == std::string_view::npos) return;
    End(sink);
    bytes.remove_prefix(end + 1);
  }
}

void LineSplitter::End(Sink sink) {
  if (!line_.empty()) sink(line_);
  line_.clear();
}

}  // namespace reel
