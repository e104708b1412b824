// SPDX-License-Identifier: Apache-2.0
// A bounded memory of what texts were encoded to. The texts used last are kept.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <utility>

namespace reel::model {

// Not thread-safe. `Key` is ordered.
template <typename Key, typename Value>
class TextMemory {
 public:
  explicit TextMemory(int64_t limit_bytes) : limit_(limit_bytes) {}

  // Null: it is not known. Valid until the next call of another method.
  const Value* Recall(const Key& key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &entries_.front().value;
  }

  // `key` is not known yet. A value that is larger than the whole memory is not kept.
  void Remember(const Key& key, const Value& value, int64_t bytes) {
    if (bytes > limit_) return;
    entries_.push_front({key, value, bytes});
    index_[key] = entries_.begin();
    bytes_ += bytes;
    while (bytes_ > limit_) {
      bytes_ -= entries_.back().bytes;
      index_.erase(entries_.back().key);
      entries_.pop_back();
    }
  }

  void Forget() {
    entries_.clear();
    index_.clear();
    bytes_ = 0;
  }

  int64_t bytes() const { return bytes_; }

 private:
  struct Entry {
    Key key;
    Value value;
    int64_t bytes;
  };

  int64_t limit_;
  std::list<Entry> entries_;  // latest first
  std::map<Key, typename std::list<Entry>::iterator> index_;
  int64_t bytes_ = 0;
};

}  // namespace reel::model
