// SPDX-License-Identifier: Apache-2.0
// A link with which ranks write to each other by a kernel of libreel_cuda.so.
#pragma once

#include <cstdint>

#include "kernels/dispatch/rank_give_layout.h"
#include "model/bridge/rank_link.h"

namespace reel::model {

// CudaLibraryTable::give_to_ranks.
using GiveToRanks = int32_t (*)(const kernels::RankGive& give, void* stream);
// The caller owns the result; null if one of the devices cannot reach another.
using PeerLinkEntry = RankLink* (*)(const int* devices, int count, GiveToRanks give);
inline constexpr char kPeerLinkEntry[] = "reel_peer_link";

}  // namespace reel::model
