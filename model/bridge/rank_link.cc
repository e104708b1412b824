// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/rank_link.h"

#include <algorithm>

#include "model/bridge/torch_cuda_library.h"
#include "model/torch_cuda/peer_link.h"

namespace reel::model {

std::unique_ptr<RankLink> MakeRankLink(const std::vector<at::Device>& devices) {
  const bool on_gpus = std::all_of(devices.begin(), devices.end(),
                                   [](const at::Device& device) { return device.is_cuda(); });
  if (devices.size() < 2 || !on_gpus) return nullptr;
  const auto entry = reinterpret_cast<PeerLinkEntry>(FindInTorchCuda(kPeerLinkEntry));
  const kernels::CudaLibraryTable* const kernels = OpenedKernels();
  if (entry == nullptr || kernels == nullptr) return nullptr;
  std::vector<int> indices;
  for (const at::Device& device : devices) indices.push_back(device.index());
  return std::unique_ptr<RankLink>(
      entry(indices.data(), static_cast<int>(indices.size()), kernels->give_to_ranks));
}

}  // namespace reel::model
