// SPDX-License-Identifier: Apache-2.0
// The parts of a model that every rank of a group has, for the families whose videos are divided.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/base/status_macros.h"
#include "model/bridge/rank_crew.h"
#include "model/bridge/rows.h"
#include "model/bridge/torch_device.h"
#include "model/bridge/torch_guard.h"
#include "model/vae/group_decode.h"
#include "model/vae/vae_decoder.h"

namespace reel::model {

// What another rank than the first has: all that the work of a video is divided in.
template <typename Transformer>
struct PeerParts {
  Transformer transformer;
  VaeDecoder decoder;
};

template <typename Transformer>
struct LoadedPeers {
  std::vector<at::Device> devices;  // of all ranks
  std::vector<PeerParts<Transformer>> parts;

  // Of the devices; null where there is one alone.
  std::unique_ptr<RankCrew> NewCrew(std::unique_ptr<RankLink> link = nullptr) const {
    return parts.empty() ? nullptr : std::make_unique<RankCrew>(devices, std::move(link));
  }
};

// `load` gives the parts on a device, under whose scope it is called.
template <typename Transformer, typename Load>
absl::StatusOr<LoadedPeers<Transformer>> LoadPeers(at::Device first, const std::vector<int>& peers,
                                                   const Load& load) {
  LoadedPeers<Transformer> loaded = {{first}, {}};
  for (const int peer : peers) {
    REEL_ASSIGN_OR_RETURN(const at::Device device,
                          TorchDeviceOf({.device = peer, .handle = nullptr}));
    const ModelScope scope(device);
    absl::StatusOr<PeerParts<Transformer>> parts = load(device);
    if (!parts.ok()) return parts.status();
    loaded.devices.push_back(device);
    loaded.parts.push_back(*std::move(parts));
  }
  return loaded;
}

// A model below has `transformer` and `decoder` of the first rank, `peers` of the others, and the
// ranks' `crew`, which is null on one device.

// Of all ranks, the first one first.
template <typename Transformer, typename Model>
std::vector<const Transformer*> TransformersOf(const Model& model) {
  std::vector<const Transformer*> all = {&model.transformer};
  for (const PeerParts<Transformer>& peer : model.peers) all.push_back(&peer.transformer);
  return all;
}

// Whether the transformer of every rank has layers in this form.
template <typename Model>
bool RanksHaveLayersIn(const Model& model, RowForm form) {
  return model.transformer.HasLayersIn(form) &&
         std::all_of(model.peers.begin(), model.peers.end(),
                     [form](const auto& peer) { return peer.transformer.HasLayersIn(form); });
}

// Where they are missing (MakeLayersIn of the family's transformer).
template <typename Model>
absl::Status MakeLayersOfRanksIn(Model& model, RowForm form) {
  if (model.crew == nullptr) return model.transformer.MakeLayersIn(form);
  model.crew->Run([&model, form](int rank) {
    auto& own =
        rank == 0 ? model.transformer : model.peers[static_cast<size_t>(rank) - 1].transformer;
    if (!own.HasLayersIn(form)) ThrowIfError(own.MakeLayersIn(form));
  });
  return absl::OkStatus();
}

// As VaeDecoder::Decode: by the ranks that have rows of these latents, or by the first alone.
template <typename Model>
FrameSourcePtr DecodeOnRanks(const Model& model, const Ops& ops, const at::Tensor& latents,
                             const DecodeInputs& inputs) {
  if (DecodingRanks(model.crew.get(), latents.size(3)) == 1) {
    return model.decoder.Decode(ops, latents, inputs);
  }
  std::vector<const VaeDecoder*> decoders = {&model.decoder};
  for (const auto& peer : model.peers) decoders.push_back(&peer.decoder);
  return DecodeOnGroup(*model.crew, decoders, ops, latents, inputs);
}

}  // namespace reel::model
