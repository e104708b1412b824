// SPDX-License-Identifier: Apache-2.0
#include "model/torch_cuda/lt_table.h"

#include "model/torch_cuda/measured_device.h"

namespace reel::model {
namespace {

// The numbers of algorithms are those of this version, of CUDA 13.0.
constexpr size_t kVersion = 130100;

// The kernel with warp groups that alternate or, depending on `custom`, share a tile.
constexpr int kId = 66;
constexpr uint32_t kStages16 = 35, kStages8 = 36;  // as many as fit, for 16 and for 8 bits

constexpr LtAlgorithm Of16(cublasLtMatmulTile_t tile, uint32_t custom,
                           cublasLtClusterShape_t cluster) {
  return {kId, static_cast<uint32_t>(tile), kStages16, custom, static_cast<uint16_t>(cluster)};
}
constexpr LtAlgorithm Of8(cublasLtMatmulTile_t tile, uint32_t custom,
                          cublasLtClusterShape_t cluster) {
  return {kId, static_cast<uint32_t>(tile), kStages8, custom, static_cast<uint16_t>(cluster)};
}

struct Entry {
  int64_t outputs, width, first_rows, last_rows;
  LtAlgorithm algorithm;
};

// A tile's first side is along the outputs. Comments: what an entry saves of the time of the
// library's choice, at so many rows.
constexpr Entry kGelu[] = {
    // 5 % of 1,280, 13 of 1,920
    {8192, 2048, 1153, 1280, Of16(CUBLASLT_MATMUL_TILE_128x160, 3, CUBLASLT_CLUSTER_SHAPE_1x2x1)},
    {8192, 2048, 1793, 1920, Of16(CUBLASLT_MATMUL_TILE_128x160, 3, CUBLASLT_CLUSTER_SHAPE_1x2x1)},
    // 1 % of 4,096, 10 of 5,376, 7 of 12,288, 11 of 26,752
    {8192, 2048, 4096, kAnyMore,
     Of16(CUBLASLT_MATMUL_TILE_128x160, 1, CUBLASLT_CLUSTER_SHAPE_2x1x1)},
};
constexpr Entry kPlain[] = {
    // 4 % of 512; 5 of 1,280
    {6144, 2048, 385, 512, Of16(CUBLASLT_MATMUL_TILE_192x128, 4, CUBLASLT_CLUSTER_SHAPE_1x1x1)},
    {6144, 2048, 1153, 1280, Of16(CUBLASLT_MATMUL_TILE_128x160, 3, CUBLASLT_CLUSTER_SHAPE_1x2x1)},
    // 4 % of 4,096, 2 of 5,376, 7 of 26,752
    {6144, 2048, 4096, kAnyMore,
     Of16(CUBLASLT_MATMUL_TILE_128x160, 1, CUBLASLT_CLUSTER_SHAPE_2x1x1)},
    // 13 % of 512, 5 of 2,688, 3 of 5,376; 4 of 13,376, 3 of 26,752
    {2048, 2048, 385, 512, Of16(CUBLASLT_MATMUL_TILE_64x128, 1, CUBLASLT_CLUSTER_SHAPE_1x1x1)},
    {2048, 2048, 2561, 2688, Of16(CUBLASLT_MATMUL_TILE_128x192, 5, CUBLASLT_CLUSTER_SHAPE_4x1x1)},
    {2048, 2048, 5249, 5376, Of16(CUBLASLT_MATMUL_TILE_128x128, 3, CUBLASLT_CLUSTER_SHAPE_4x2x1)},
    {2048, 2048, 13057, kAnyMore,
     Of16(CUBLASLT_MATMUL_TILE_128x128, 1, CUBLASLT_CLUSTER_SHAPE_2x1x1)},
    // 17 % of 512, 10 of 768
    {2048, 8192, 385, 512, Of16(CUBLASLT_MATMUL_TILE_64x128, 1, CUBLASLT_CLUSTER_SHAPE_1x1x1)},
    {2048, 8192, 641, 768, Of16(CUBLASLT_MATMUL_TILE_96x128, 4, CUBLASLT_CLUSTER_SHAPE_1x1x1)},
    // The 13B shape: 4 % of 2,688, and 9
    {4096, 4096, 2561, 2688, Of16(CUBLASLT_MATMUL_TILE_256x128, 5, CUBLASLT_CLUSTER_SHAPE_2x1x1)},
    {4096, 16384, 2561, 2688, Of16(CUBLASLT_MATMUL_TILE_176x128, 6, CUBLASLT_CLUSTER_SHAPE_1x2x1)},
};
constexpr Entry kE4m3[] = {
    // 12 % of 512
    {6144, 2048, 385, 512, Of8(CUBLASLT_MATMUL_TILE_192x128, 5, CUBLASLT_CLUSTER_SHAPE_1x1x1)},
    // 27 % of 256, 24 of 512, 17 of 1,280, 3 of 2,688
    {2048, 2048, 129, 256, Of8(CUBLASLT_MATMUL_TILE_64x128, 1, CUBLASLT_CLUSTER_SHAPE_1x2x1)},
    {2048, 2048, 385, 512, Of8(CUBLASLT_MATMUL_TILE_64x128, 5, CUBLASLT_CLUSTER_SHAPE_1x2x1)},
    {2048, 2048, 1153, 1280, Of8(CUBLASLT_MATMUL_TILE_128x160, 5, CUBLASLT_CLUSTER_SHAPE_2x1x1)},
    {2048, 2048, 2561, 2688, Of8(CUBLASLT_MATMUL_TILE_128x192, 7, CUBLASLT_CLUSTER_SHAPE_4x1x1)},
    // 27 % of 512, 23 of 1,280, 5 of 4,096
    {2048, 8192, 385, 512, Of8(CUBLASLT_MATMUL_TILE_64x128, 1, CUBLASLT_CLUSTER_SHAPE_1x1x1)},
    {2048, 8192, 1153, 1280, Of8(CUBLASLT_MATMUL_TILE_128x160, 7, CUBLASLT_CLUSTER_SHAPE_1x1x1)},
    {2048, 8192, 3969, 4096, Of8(CUBLASLT_MATMUL_TILE_256x128, 5, CUBLASLT_CLUSTER_SHAPE_2x1x1)},
};

// GELU and the rounding to e4m3 in the product: 0 to 1 % of 512, 5 of 1,280, 7 of 4,096, 13 of
// 5,376, 12 of 26,752.
constexpr Entry kE4m3Gelu[] = {
    {8192, 2048, 385, 512, Of8(CUBLASLT_MATMUL_TILE_128x256, 7, CUBLASLT_CLUSTER_SHAPE_1x1x1)},
    {8192, 2048, 1153, 1280, Of8(CUBLASLT_MATMUL_TILE_128x128, 1, CUBLASLT_CLUSTER_SHAPE_2x1x1)},
    {8192, 2048, 3969, kAnyMore,
     Of8(CUBLASLT_MATMUL_TILE_128x160, 1, CUBLASLT_CLUSTER_SHAPE_2x1x1)},
};

// An entry also suits its width with a few columns of adapters behind it.
bool Suits(int64_t tuned, int64_t width) { return width >= tuned && width <= tuned + tuned / 8; }

template <size_t kCount>
const LtAlgorithm* Find(const Entry (&entries)[kCount], const LtShape& shape) {
  for (const Entry& entry : entries) {
    const bool fits = entry.outputs == shape.outputs && Suits(entry.width, shape.width) &&
                      shape.rows >= entry.first_rows && shape.rows <= entry.last_rows;
    if (fits) return &entry.algorithm;
  }
  return nullptr;
}

}  // namespace

const LtAlgorithm* TunedFor(const LtShape& shape) {
  const bool e4m3 = shape.type == at::kFloat8_e4m3fn;
  if (!e4m3 && shape.type != at::kBFloat16) return nullptr;
  if (!shape.bias || shape.residual) return nullptr;
  if (!IsMeasuredDevice() || cublasLtGetVersion() != kVersion) return nullptr;
  if (shape.to_e4m3) return shape.gelu ? Find(kE4m3Gelu, shape) : nullptr;
  if (e4m3) return shape.gelu ? nullptr : Find(kE4m3, shape);
  return shape.gelu ? Find(kGelu, shape) : Find(kPlain, shape);
}

}  // namespace reel::model
