# SPDX-License-Identifier: Apache-2.0
"""LTX-Video of diffusers: its transformer and its video decoder.

Modules are known by their exact class: a subclass may compute something else.
"""

import torch

from .. import activations, rotary
from .norm_forwards import NormSettings, eps_of, layer_norm_forward, rms_norm_forward
from .replacement import Replacement, replace_modules


def patch_ltx(transformer, *, check=None):
    """Norms, attention processors and feed-forwards of an LTXVideoTransformer3DModel. Returns a PatchReport.

    On its device, and before offloading is enabled. `check` runs the transformer once and returns its output: the
    results before and after are then compared. ValueError when it is hooked, patched already, or no LTX transformer.
    """
    from diffusers.models.transformers.transformer_ltx import LTXAttention, LTXVideoAttnProcessor

    attentions = sum(type(module) is LTXAttention for module in transformer.modules())
    if attentions == 0:
        raise ValueError(f"{type(transformer).__name__} has no attention of LTX-Video")

    def choose(_, module):
        if type(module) is LTXAttention:
            if type(module.processor) is not LTXVideoAttnProcessor:
                return f"its processor is a {type(module.processor).__name__}"
            return Replacement("attention_processor", _LtxProcessor(module.processor))
        return _norm(module) or _feed_forward(module)

    return replace_modules(transformer, choose, check)


def patch_ltx_vae(vae, *, check=None):
    """The norms of an AutoencoderKLLTXVideo, over channels that were moved last. As patch_ltx otherwise.

    The kernels run where channels lie side by side: `vae.to(memory_format=torch.channels_last_3d)`.
    """
    return replace_modules(vae, lambda _, module: _norm(module, moved=True), check)


def _norm(module, moved=False):
    from diffusers.models.normalization import RMSNorm

    if type(module) is torch.nn.RMSNorm:
        if len(module.normalized_shape) != 1:
            return f"it is over {len(module.normalized_shape)} dimensions"
        return _rms_norm(module, NormSettings(eps_of(module), moved=moved))
    if type(module) is RMSNorm:
        # diffusers rounds before a weight, and beside an fp32 one gives fp32.
        weighted = module.weight is not None
        return _rms_norm(module, NormSettings(eps_of(module), round_before_weight=weighted, keeps_dtype=not weighted,
                                              moved=moved))
    if type(module) is torch.nn.LayerNorm:
        if len(module.normalized_shape) != 1:
            return f"it is over {len(module.normalized_shape)} dimensions"
        return Replacement("layer_norm", layer_norm_forward, NormSettings(module.eps, moved=moved))
    return None


def _rms_norm(module, settings):
    kind = "rms_norm_weightless" if module.weight is None else "rms_norm_weighted"
    return Replacement(kind, rms_norm_forward, settings)


def _feed_forward(module):
    """LTX-Video's is a plain GELU; the gated forms of diffusers have their gate in the second half."""
    from diffusers.models import activations as modules

    if type(module) is modules.GELU:
        return Replacement("feed_forward", _gelu_tanh_forward if module.approximate == "tanh" else _gelu_forward)
    if type(module) is modules.GEGLU:
        return Replacement("feed_forward", _geglu_forward)
    if type(module) is modules.SwiGLU:
        return Replacement("feed_forward", _swiglu_forward)
    return None


def _gelu_tanh_forward(self, hidden_states):
    return activations.gelu_tanh(self.proj(hidden_states))


def _gelu_forward(self, hidden_states):
    return activations.gelu(self.proj(hidden_states))


def _geglu_forward(self, hidden_states, *_, **__):
    return activations.geglu(self.proj(hidden_states), approximate=False, gate="second")


def _swiglu_forward(self, hidden_states):
    return activations.swiglu(self.proj(hidden_states), gate="second")


class _LtxProcessor:
    """Attention as LTXVideoAttnProcessor has it, with the norms of q and k and their rotation in one kernel."""

    def __init__(self, before):
        # diffusers sets these on processors.
        self._attention_backend = before._attention_backend
        self._parallel_config = before._parallel_config

    def __call__(self, attn, hidden_states, encoder_hidden_states=None, attention_mask=None, image_rotary_emb=None):
        from diffusers.models.attention_dispatch import dispatch_attention_fn

        context = hidden_states if encoder_hidden_states is None else encoder_hidden_states
        if attention_mask is not None:
            attention_mask = attn.prepare_attention_mask(attention_mask, context.shape[1], context.shape[0])
            attention_mask = attention_mask.view(context.shape[0], attn.heads, -1, attention_mask.shape[-1])
        q, k = _normed_and_turned(attn, attn.to_q(hidden_states), attn.to_k(context), image_rotary_emb)
        attended = dispatch_attention_fn(
            q.unflatten(2, (attn.heads, -1)), k.unflatten(2, (attn.heads, -1)),
            attn.to_v(context).unflatten(2, (attn.heads, -1)), attn_mask=attention_mask, dropout_p=0.0,
            is_causal=False, backend=self._attention_backend, parallel_config=self._parallel_config)
        attended = attended.flatten(2, 3).to(q.dtype)
        return attn.to_out[1](attn.to_out[0](attended))


def _normed_and_turned(attn, q, k, table):
    if table is None:
        return attn.norm_q(q), attn.norm_k(k)
    table = tuple(part.float() for part in table)
    if not _plain_norms(attn, q):
        return rotary.ltx_rope(attn.norm_q(q), attn.norm_k(k), table, dense=True)
    return rotary.qk_norm_rope(q, k, attn.norm_q.weight, attn.norm_k.weight, table, eps_of(attn.norm_q), dense=True)


def _plain_norms(attn, q):
    """Whether both are what qk_norm_rope computes. The weights of a norm that is offloaded by itself come with its
    call only."""
    both = (attn.norm_q, attn.norm_k)
    return (all(type(norm) is torch.nn.RMSNorm and not hasattr(norm, "_hf_hook") for norm in both)
            and all(norm.weight is None or norm.weight.dtype in (q.dtype, torch.float32) for norm in both)
            and eps_of(attn.norm_q) == eps_of(attn.norm_k))
