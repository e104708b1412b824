# SPDX-License-Identifier: Apache-2.0
"""Operators of a video decoder: its convolution and norm, and frames as bytes."""

from ._library import ops

__all__ = ["channel_norm_silu", "channel_norm_silu_sum", "conv3d", "depth_to_space", "frame_convert"]


def channel_norm_silu(input, scale=None, shift=None, eps=1e-8, out=None, *, padding=(0, 0), silu=True, residual=None,
                      bias=None, variant=None):
    """rms over C of [B,F,H,W,C], then scale and shift [B,C], then silu; `padding` repeats the first and last frame.

    `residual`, like input, and `bias` [C] are added to the input first: what a convolution left to add.
    """
    options = {"pad_front": padding[0], "pad_back": padding[1], "silu": silu, "eps": eps, "variant": variant}
    if out is None:
        return ops.channel_norm_silu(input, scale, shift, residual, bias, **options)
    ops.channel_norm_silu_out(out, input, scale, shift, residual, bias, **options)
    return out


def channel_norm_silu_sum(input, scale=None, shift=None, eps=1e-8, out=None, sum_out=None, *, padding=(0, 0), silu=True,
                          residual=None, bias=None, variant=None):
    """(channel_norm_silu, input + residual + bias); the norm is of the unrounded sum. Both outputs are given or none."""
    options = {"pad_front": padding[0], "pad_back": padding[1], "silu": silu, "eps": eps, "variant": variant}
    if out is None:
        return ops.channel_norm_silu_sum(input, scale, shift, residual, bias, **options)
    ops.channel_norm_silu_sum_out(out, sum_out, input, scale, shift, residual, bias, **options)
    return out, sum_out


def conv3d(input, weight, bias=None, out=None, *, stride=(1, 1, 1), padding=(0, 0, 0), variant=None):
    """[B,C,F,H,W] by [O,C,i,j,k], zeros beyond the edges: PyTorch's own, by the name "aten". Give `out` in
    channels_last_3d to have that layout."""
    options = {"stride": stride, "padding": padding, "variant": variant}
    if out is None:
        return ops.conv3d(input, weight, bias, **options)
    ops.conv3d_out(out, input, weight, bias, **options)
    return out


def depth_to_space(input, bias=None, residual=None, out=None, *, drop_first=False, variant=None):
    """[B,F,H,W,8C] to [B,2F,2H,2W,C], with `bias` [8C] and `residual` [B,F,H,W,8R], repeated along the channels, added;
    `drop_first` leaves the first frame out."""
    options = {"drop_first": drop_first, "variant": variant}
    if out is None:
        return ops.depth_to_space(input, bias, residual, **options)
    ops.depth_to_space_out(out, input, bias, residual, **options)
    return out


def frame_convert(frames, format="rgb8", *, layout="packed", exact=False, matrix="bt709", full_range=False,
                  center_chroma=False, variant=None):
    """Frames in [-1,1] to bytes: rgb8 [F,H,W,3]; i420 (y, u, v); nv12 (y, uv).

    `layout` is packed [F,H,W,3], planar [F,3,H,W] or patched [F,H/4,W/4,48]. Rounds as diffusers does unless `exact`.
    """
    if format == "rgb8":
        return ops.frame_convert(frames, layout=layout, exact=exact, variant=variant)
    if matrix not in ("bt709", "bt601"):
        raise ValueError(f"matrix is 'bt709' or 'bt601', not {matrix!r}")
    options = {"layout": layout, "exact": exact, "bt601": matrix == "bt601", "full_range": full_range,
               "center_chroma": center_chroma, "variant": variant}
    if format == "i420":
        return ops.frame_convert_i420(frames, **options)
    if format == "nv12":
        return ops.frame_convert_nv12(frames, **options)
    raise ValueError(f"format is 'rgb8', 'i420' or 'nv12', not {format!r}")
