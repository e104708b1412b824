// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/progress_texts.h"

#include <functional>

namespace reel::front {

ProgressTexts::Text ProgressTexts::Of(std::string_view video, uint64_t sequence,
                                      absl::FunctionRef<std::string()> make) {
  const size_t place = (std::hash<std::string_view>()(video) + sequence) % kEntries;
  {
    MutexLock lock(mutex_);
    const Entry& entry = entries_[place];
    if (entry.text != nullptr && entry.sequence == sequence && entry.video == video) {
      return entry.text;
    }
  }
  auto text = std::make_shared<const std::string>(make());
  MutexLock lock(mutex_);
  entries_[place] = {std::string(video), sequence, text};
  return text;
}

}  // namespace reel::front
