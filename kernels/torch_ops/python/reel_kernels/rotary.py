# SPDX-License-Identifier: Apache-2.0
"""Rotary embeddings. A function returns (q, k), with None for a k that was not given; one whose name ends in an
underscore writes into q and k."""

from ._library import ops

__all__ = ["ltx_rope", "ltx_rope_table", "qk_norm_rope", "rope_1d", "rope_1d_", "rope_3d", "rope_3d_extended"]


def rope_1d(q, k=None, theta_base=10000.0, *, positions=None, k_positions=None, offset=0, interleaved=True,
            rotary_dim=None, norm_eps=None, q_weight=None, k_weight=None, variant=None):
    """q [B,S,N,Dh], k [B,Sk,Nk,Dh]; positions [S] or [B,S], else 0, 1, ... plus `offset`.

    With norm_eps the rms norm of each head comes first, in the same pass, with weights [Dh]: as Qwen3 has it.
    """
    return _pair(k, ops.rope_1d(q, k, positions, k_positions, offset=offset, rotary_dim=rotary_dim,
                                interleaved=interleaved, theta=theta_base, norm_eps=norm_eps, q_weight=q_weight,
                                k_weight=k_weight, variant=variant))


def rope_1d_(q, k=None, theta_base=10000.0, *, positions=None, k_positions=None, offset=0, interleaved=True,
             rotary_dim=None, norm_eps=None, q_weight=None, k_weight=None, variant=None):
    ops.rope_1d_out(q, k, q, k, positions, k_positions, offset=offset, rotary_dim=rotary_dim,
                    interleaved=interleaved, theta=theta_base, norm_eps=norm_eps, q_weight=q_weight,
                    k_weight=k_weight, variant=variant)
    return q, k


def rope_3d(q, k, num_frames, height, width, theta_base=10000.0, *, split=None, theta=None, variant=None):
    """Tokens (t*height + h)*width + w. `split` = channels of (t, h, w), `theta` = the base of each."""
    return _pair(k, ops.rope_3d(q, k, num_frames, height, width, split=split,
                                theta=theta or [theta_base] * 3, variant=variant))


def rope_3d_extended(q, k, T, H, W, dim_t, dim_h, dim_w, theta_t=10000.0, theta_h=10000.0, theta_w=10000.0, *,
                     variant=None):
    return rope_3d(q, k, T, H, W, split=[dim_t, dim_h, dim_w], theta=[theta_t, theta_h, theta_w], variant=variant)


def ltx_rope_table(num_frames, height, width, channels, frame_rate=25.0, *, device=None):
    """(cos_sin, index) of a latent grid: the small form of LTX-Video's table, for ltx_rope and qk_norm_rope."""
    cos_sin, index = ops.ltx_rope_table([num_frames, height, width], frame_rate, channels)
    return (cos_sin, index) if device is None else (cos_sin.to(device), index.to(device))


def ltx_rope(q, k, table, *, dense=False, variant=None):
    """LTX-Video's embedding over the full width, before the heads are split.

    `table` is (cos_sin, index) of ltx_rope_table, or with `dense` (cos, sin) as diffusers has them.
    """
    return _pair(k, ops.ltx_rope(q, k, **_named(table, dense), variant=variant))


def qk_norm_rope(q, k, q_weight=None, k_weight=None, table=None, eps=1e-5, *, dense=False, variant=None):
    """The rms norms of q and k over the full width, then ltx_rope if there is a table, in one pass."""
    return _pair(k, ops.qk_norm_rope(q, k, q_weight, k_weight, **_named(table, dense), eps=eps, variant=variant))


def _named(table, dense):
    if table is None:
        return {}
    return dict(zip(("cos", "sin") if dense else ("cos_sin", "index"), table))


def _pair(k, outputs):
    return outputs[0], None if k is None else outputs[1]
