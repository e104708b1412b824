// SPDX-License-Identifier: Apache-2.0
#include "model/vae/group_decode.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "model/bridge/rank_run.h"
#include "model/frames/row_part.h"

namespace reel::model {
namespace {

class GroupFrames final : public FrameSource {
 public:
  GroupFrames(RankCrew& crew, std::vector<FrameSourcePtr> chains)
      : crew_(crew), chains_(std::move(chains)) {}

  Frames Next(const Ops& ops) override {
    std::vector<Frames> made(chains_.size());
    RunOnRanks(crew_, ops, [&](int rank, const Ops& by) {
      const auto own = static_cast<size_t>(rank);
      if (own < chains_.size()) made[own] = chains_[own]->Next(by);
    });
    std::vector<at::Tensor> rows;
    for (const Frames& part : made) {
      rows.push_back(part.x.to(crew_.device(0), /*non_blocking=*/true));
    }
    return {at::cat(rows, kRowsDimension), made[0].last};
  }

 private:
  RankCrew& crew_;
  std::vector<FrameSourcePtr> chains_;  // of the ranks that have rows
};

}  // namespace

int DecodingRanks(const RankCrew* crew, int64_t rows) {
  return crew == nullptr ? 1 : static_cast<int>(std::min<int64_t>(crew->size(), rows));
}

FrameSourcePtr DecodeOnGroup(RankCrew& crew, const std::vector<const VaeDecoder*>& decoders,
                             const Ops& ops, const at::Tensor& latents,
                             const DecodeInputs& inputs) {
  const int ranks = DecodingRanks(&crew, latents.size(kRowsDimension));
  std::vector<FrameSourcePtr> chains(static_cast<size_t>(ranks));
  std::vector<at::Tensor> parts;
  // Each draws the whole noise, of which it takes its rows.
  std::vector<at::Generator> noises = {inputs.noise};
  for (int rank = 0; rank < ranks; ++rank) {
    const at::Tensor own = RowPart::Of(crew, rank, latents.size(kRowsDimension)).Own(latents, 1);
    parts.push_back(own.contiguous().to(crew.device(rank), /*non_blocking=*/true));
    if (rank > 0) noises.push_back(inputs.noise.clone());
  }
  RunOnRanks(crew, ops, [&](int rank, const Ops& by) {
    if (rank >= ranks) return;
    const auto own = static_cast<size_t>(rank);
    const RowPart part = RowPart::Of(crew, rank, latents.size(kRowsDimension));
    const DecodeInputs its = {inputs.pieces, inputs.time, noises[own]};
    chains[own] = decoders[own]->Decode(by, parts[own], its, &part);
  });
  return std::make_unique<GroupFrames>(crew, std::move(chains));
}

}  // namespace reel::model
