// SPDX-License-Identifier: Apache-2.0
#include "model/tokenizer/unigram.h"

#include <algorithm>

#include "model/tokenizer/utf8.h"

namespace reel::model {
namespace {

constexpr int64_t kUnknownId = 2;
constexpr double kUnknownPenalty = 10;

}  // namespace

Unigram::Unigram(const std::vector<Piece>& pieces) {
  texts_.reserve(pieces.size());  // the keys point into it
  double lowest = 0;
  for (size_t id = 0; id < pieces.size(); ++id) {
    const Piece& piece = pieces[id];
    texts_.push_back(piece.text);
    entries_.insert_or_assign(texts_.back(), Entry{static_cast<int64_t>(id), piece.score});
    max_piece_bytes_ = std::max(max_piece_bytes_, piece.text.size());
    lowest = id == 0 ? piece.score : std::min(lowest, piece.score);
  }
  unknown_score_ = lowest - kUnknownPenalty;
}

void Unigram::Extend(std::string_view word, size_t start, std::vector<Best>& best) const {
  const double here = best[start].score;
  const auto offer = [&](size_t end, double score, int64_t id) {
    if (best[end].start == kNone || score > best[end].score) best[end] = {score, start, id};
  };
  const size_t one_character = FirstCodePoint(word.substr(start)).bytes;
  const size_t longest = std::min(max_piece_bytes_, word.size() - start);
  bool covers_character = false;
  for (size_t bytes = one_character; bytes <= longest;) {
    const auto found = entries_.find(word.substr(start, bytes));
    if (found != entries_.end()) {
      offer(start + bytes, found->second.score + here, found->second.id);
      covers_character |= bytes == one_character;
    }
    if (start + bytes == word.size()) break;
    bytes += FirstCodePoint(word.substr(start + bytes)).bytes;
  }
  if (!covers_character) offer(start + one_character, unknown_score_ + here, kUnknownId);
}

void Unigram::Encode(std::string_view word, std::vector<int64_t>& ids) const {
  std::vector<Best> best(word.size() + 1);
  for (size_t start = 0; start < word.size(); start += FirstCodePoint(word.substr(start)).bytes) {
    Extend(word, start, best);
  }
  std::vector<int64_t> backwards;
  for (size_t end = word.size(); end > 0; end = best[end].start) {
    const int64_t id = best[end].id;
    if (id == kUnknownId && !backwards.empty() && backwards.back() == kUnknownId) continue;
    backwards.push_back(id);
  }
  ids.insert(ids.end(), backwards.rbegin(), backwards.rend());
}

}  // namespace reel::model
