// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "kernels/cuda/library_variants.h"
#include "kernels/frame_convert/frame_convert_launch.h"

namespace reel::kernels {
namespace {

bool Fits(const FramePlane& plane, int64_t column, int64_t bytes) {
  return plane.column == column && plane.row % bytes == 0 && plane.frame % bytes == 0 &&
         reinterpret_cast<uintptr_t>(plane.data) % static_cast<uintptr_t>(bytes) == 0;
}

bool PlanesFit(const FrameConvertParams& p) {
  if (!p.yuv) {
    return Fits(p.planes[0], 3, 4) && p.planes[1].data == p.planes[0].data + 1 &&
           p.planes[2].data == p.planes[0].data + 2;
  }
  if (!Fits(p.planes[0], 1, 4)) return false;
  const bool interleaved = Fits(p.planes[1], 2, 4) && p.planes[2].data == p.planes[1].data + 1;
  return interleaved || (Fits(p.planes[1], 1, 2) && Fits(p.planes[2], 1, 2));
}

}  // namespace

bool FrameConvertTileAccepts(const FrameConvertParams& p) {
  if (FrameJobs(p) == 0) return true;
  if (p.width % 4 != 0 || p.height % 4 != 0) return false;
  if (p.height > int64_t{1} << 19) return false;  // lines of a grid
  // Patches are read 16 bytes at a time, pixels four samples at a time.
  const int64_t run = p.patched ? 16 / DtypeSize(p.dtype) : 4;
  if (reinterpret_cast<uintptr_t>(p.in) % static_cast<uintptr_t>(run * DtypeSize(p.dtype)) != 0) {
    return false;
  }
  // Strides that must keep the alignment: all but the stride of 1, and in packed pixels the one of
  // 3.
  const bool packed = !p.patched && p.strides[3] == 1 && p.strides[2] == 3;
  const bool planar = !p.patched && p.strides[2] == 1;
  const bool patched = p.patched && p.strides[3] == 1;
  if (!packed && !planar && !patched) return false;
  const auto aligned = [run](int64_t stride) { return stride % run == 0; };
  if (!aligned(p.strides[0]) || !aligned(p.strides[1])) return false;
  if (planar && !aligned(p.strides[3])) return false;
  if (patched && !aligned(p.strides[2])) return false;
  return PlanesFit(p);
}

OpVariants FrameConvertCudaVariants() {
  static constexpr KernelVariant kVariants[] = {
      Sm80Variant<LaunchFrameConvertSm80, FrameConvertTileAccepts>(),
      GenericCudaVariant<LaunchFrameConvertGeneric>(),
  };
  return MakeVariants<FrameConvertParams>("frame_convert", kVariants);
}

}  // namespace reel::kernels
