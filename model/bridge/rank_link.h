// SPDX-License-Identifier: Apache-2.0
// The devices of a group, each of which writes to the others' memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/bridge/aten.h"

namespace reel::model {

// What ranks exchange within a call that is recorded: Note: [Ranks write to each other] in
// kernels/dispatch/rank_give_layout.h. Throws what libtorch throws.
class RankLink {
 public:
  // One exchange of a rank, with those from `first_rank` on.
  struct Turn {
    int rank = 0;
    int first_rank = 0, ranks = 1;
    int64_t number = 0;             // of the call's exchanges
    int64_t first = 0, tokens = 0;  // this rank's are there among all
  };

  virtual ~RankLink() = default;

  // Memory for exchanges of so many bytes in all. True: it is new, and what was recorded with the
  // old is void. With no rank at work.
  virtual bool Reserve(int64_t bytes) = 0;
  // That it has at each rank.
  virtual int64_t bytes() const = 0;
  // None is held any more, until the next Reserve.
  virtual void Forget() = 0;
  // Exchanges keys and values [B, own, D] of this rank's tokens for those of all, [B, S, 2, D], on
  // its device's current stream. The exchange after the next overwrites them, in the same call or
  // in the next one, which begins once all ranks have ended this one.
  virtual at::Tensor OfAll(const Turn& turn, const at::Tensor& k, const at::Tensor& v) = 0;
  // From any thread: no device waits for another any more, and what is made is void.
  virtual void GiveUp() = 0;
  // All as at first, with no rank at work: waits for the devices.
  virtual void Renew() = 0;
};

// Null where devices do not reach each other's memory: on CPUs, without a library of kernels, and
// between cards that no link connects.
std::unique_ptr<RankLink> MakeRankLink(const std::vector<at::Device>& devices);

}  // namespace reel::model
