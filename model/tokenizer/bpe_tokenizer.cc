// SPDX-License-Identifier: Apache-2.0
#include "model/tokenizer/bpe_tokenizer.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "absl/status/status.h"
#include "kernels/base/status_macros.h"
#include "model/tokenizer/utf8.h"

namespace reel::model {
namespace {

constexpr int64_t kPadding = 0;
constexpr std::string_view kSpaceMark = "\xe2\x96\x81";  // U+2581

uint64_t PairOf(int32_t left, int32_t right) {
  return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
}

// A possible merge: better ones first, the leftmost among equals.
struct Candidate {
  int32_t rank;
  int32_t at;
  int32_t result;
};
struct ComesLater {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return std::pair(a.rank, a.at) > std::pair(b.rank, b.at);
  }
};

// A piece in progress, linked to its neighbours; removed when merged into the one before.
struct Symbol {
  int32_t id;
  int32_t before, behind;  // -1: none
  bool gone = false;
};

std::string WithMarks(std::string_view text) {
  std::string marked;
  for (const char c : text) {
    c == ' ' ? marked += kSpaceMark : marked += c;
  }
  return marked;
}

}  // namespace

absl::StatusOr<BpeTokenizer> BpeTokenizer::Load(const std::string& folder) {
  REEL_ASSIGN_OR_RETURN(BpeVocabulary vocabulary, LoadBpeVocabulary(folder));
  return BpeTokenizer(std::move(vocabulary));
}

BpeTokenizer::BpeTokenizer(BpeVocabulary vocabulary)
    : added_(std::move(vocabulary.added)),
      bytes_(vocabulary.bytes),
      begin_(vocabulary.begin),
      begin_piece_(vocabulary.begin_piece),
      size_(static_cast<int64_t>(vocabulary.pieces.size())) {
  for (size_t id = 0; id < vocabulary.pieces.size(); ++id) {
    const CodePoint c = FirstCodePoint(vocabulary.pieces[id]);
    if (c.bytes == 0 || c.bytes != vocabulary.pieces[id].size()) continue;
    characters_[c.value] = static_cast<int32_t>(id);
  }
  for (const BpeMerge& merge : vocabulary.merges) {
    merges_.push_back(
        {PairOf(merge.left, merge.right), static_cast<int32_t>(merges_.size()), merge.result});
  }
  // If a pair is listed twice, the last entry counts.
  std::sort(merges_.begin(), merges_.end(), [](const Merge& a, const Merge& b) {
    return std::pair(a.pair, b.rank) < std::pair(b.pair, a.rank);
  });
}

const BpeTokenizer::Merge* BpeTokenizer::Find(int32_t left, int32_t right) const {
  const uint64_t pair = PairOf(left, right);
  const auto found =
      std::lower_bound(merges_.begin(), merges_.end(), pair,
                       [](const Merge& merge, uint64_t wanted) { return merge.pair < wanted; });
  return found == merges_.end() || found->pair != pair ? nullptr : &*found;
}

void BpeTokenizer::AppendSymbols(std::string_view text, std::vector<int32_t>& symbols) const {
  while (!text.empty()) {
    const CodePoint c = FirstCodePoint(text);
    if (const auto piece = characters_.find(c.value); piece != characters_.end()) {
      symbols.push_back(piece->second);
    } else {
      for (const char byte : text.substr(0, c.bytes)) {
        symbols.push_back(bytes_[static_cast<unsigned char>(byte)]);
      }
    }
    text.remove_prefix(c.bytes);
  }
}

void BpeTokenizer::EncodePlain(std::string_view text, std::vector<int64_t>& ids) const {
  std::vector<int32_t> pieces;
  AppendSymbols(WithMarks(text), pieces);
  const auto count = static_cast<int32_t>(pieces.size());
  std::vector<Symbol> symbols;
  for (int32_t i = 0; i < count; ++i) {
    symbols.push_back({pieces[static_cast<size_t>(i)], i - 1, i + 1 == count ? -1 : i + 1});
  }
  const auto symbol = [&](int32_t at) -> Symbol& { return symbols[static_cast<size_t>(at)]; };
  std::priority_queue<Candidate, std::vector<Candidate>, ComesLater> candidates;
  const auto consider = [&](int32_t at) {
    if (at < 0 || symbol(at).behind < 0) return;
    const Merge* merge = Find(symbol(at).id, symbol(symbol(at).behind).id);
    if (merge != nullptr) candidates.push({merge->rank, at, merge->result});
  };
  for (int32_t i = 0; i < count; ++i) consider(i);
  while (!candidates.empty()) {
    const Candidate best = candidates.top();
    candidates.pop();
    Symbol& left = symbol(best.at);
    if (left.gone || left.behind < 0) continue;
    Symbol& right = symbol(left.behind);
    // One of the two may have changed since.
    const Merge* merge = Find(left.id, right.id);
    if (merge == nullptr || merge->result != best.result) continue;
    left.id = merge->result;
    right.gone = true;
    left.behind = right.behind;
    if (right.behind >= 0) symbol(right.behind).before = best.at;
    consider(left.before);
    consider(best.at);
  }
  for (const Symbol& piece : symbols) {
    if (!piece.gone) ids.push_back(piece.id);
  }
}

absl::StatusOr<TokenIds> BpeTokenizer::Encode(std::string_view text, int length,
                                              BeginToken begin) const {
  if (length < 1) return absl::InvalidArgumentError("the token length must be at least 1");
  if (!IsValidUtf8(text)) return absl::InvalidArgumentError("the text is not UTF-8");
  std::vector<int64_t> ids;
  if (begin_) {
    ids.push_back(*begin_);
  } else if (begin == BeginToken::kAlways) {
    if (!begin_piece_) return absl::FailedPreconditionError("the tokenizer has no piece <bos>");
    ids.push_back(*begin_piece_);
  }
  added_.Encode(
      text, [this](std::string_view plain, std::vector<int64_t>& to) { EncodePlain(plain, to); },
      ids);

  const auto size = static_cast<size_t>(length);
  TokenIds tokens;
  tokens.text_tokens = static_cast<int>(ids.size());
  tokens.truncated = ids.size() > size;
  ids.resize(std::min(ids.size(), size));
  const size_t padding = size - ids.size();
  tokens.ids.assign(padding, kPadding);
  tokens.ids.insert(tokens.ids.end(), ids.begin(), ids.end());
  tokens.mask.assign(padding, 0);
  tokens.mask.resize(size, 1);
  return tokens;
}

}  // namespace reel::model
