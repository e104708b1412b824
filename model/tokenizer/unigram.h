// SPDX-License-Identifier: Apache-2.0
// Splits a word into pieces with the best total score, by the Viterbi algorithm.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/tokenizer/vocabulary.h"

namespace reel::model {

// Immutable; may be used from any thread.
class Unigram {
 public:
  explicit Unigram(const std::vector<Piece>& pieces);
  Unigram(Unigram&&) = default;  // moving keeps the keys valid; a copy would not
  Unigram& operator=(Unigram&&) = default;

  // Appends the ids of `word`, valid UTF-8. Among equals the split found first wins, whose last
  // piece is the longest; a run of characters without a piece becomes one <unk>.
  void Encode(std::string_view word, std::vector<int64_t>& ids) const;

 private:
  struct Entry {
    int64_t id;
    double score;
  };
  // The best path to a position in the word, by its last piece.
  struct Best {
    double score = 0;
    size_t start = kNone;
    int64_t id = 0;
  };
  static constexpr size_t kNone = static_cast<size_t>(-1);

  void Extend(std::string_view word, size_t start, std::vector<Best>& best) const;

  std::unordered_map<std::string_view, Entry> entries_;
  std::vector<std::string> texts_;  // viewed by the keys
  size_t max_piece_bytes_ = 0;
  double unknown_score_ = 0;
};

}  // namespace reel::model
