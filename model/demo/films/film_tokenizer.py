# SPDX-License-Identifier: Apache-2.0
"""The vocabulary of the demo with sound: Gemma's kind of tokenizer.json, in which each word of the captions is a token.

Words are added tokens, with the space before them and without, small and with a capital: they are cut out of a text first, the
longest at the leftmost place. All else is spelled in letters and bytes. There are no merges to learn.
"""

import json
import pathlib
import string

import torch
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

from tokenizer import words

VOCABULARY = 1408
LONGEST = 40  # tokens of a training caption; longer ones are cut
SPECIAL = ("<pad>", "<eos>", "<bos>", "<unk>")
SPACE = "\u2581"


def forms(word: str) -> tuple[str, ...]:
    """All that are the same word. The first stands inside a caption, the others begin it or a sentence."""
    return f" {word}", word, f" {word.capitalize()}", word.capitalize()


def pieces() -> list[str]:
    """What is not a word, by id: special tokens, bytes to fall back on, a space, letters and marks."""
    return [*SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256)), SPACE, *(c for c in string.printable if not c.isspace())]


def build() -> Tokenizer:
    """`<bos>` stands in front of every text, as in Gemma 3's."""
    vocabulary = {piece: number for number, piece in enumerate(pieces())}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", SPACE)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.add_special_tokens([AddedToken(text, normalized=False, special=True) for text in SPECIAL])
    known = dict.fromkeys(form for word in words() for form in forms(word) if form not in vocabulary)
    tokenizer.add_tokens([AddedToken(form, normalized=False, special=False) for form in known])
    if tokenizer.get_vocab_size() > VOCABULARY:
        raise ValueError(f"{tokenizer.get_vocab_size()} pieces are too many for {VOCABULARY}")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<bos> $A", pair="<bos> $A <bos> $B", special_tokens=[("<bos>", vocabulary["<bos>"])])
    return tokenizer


def save(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(build().to_str(pretty=False) + "\n", encoding="utf-8")
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 1024, "padding_side": "left", "truncation_side": "right",
              "pad_token": "<pad>", "eos_token": "<eos>", "bos_token": "<bos>", "unk_token": "<unk>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


class Encoder:
    """Captions to ids with padding behind."""

    def __init__(self):
        self._tokenizer = build()

    def __call__(self, texts: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
        """Ids [N, LONGEST] int64, and how many of each are real."""
        ids = torch.zeros(len(texts), LONGEST, dtype=torch.int64)
        lengths = torch.empty(len(texts), dtype=torch.int64)
        for i, encoded in enumerate(self._tokenizer.encode_batch([text.strip() for text in texts])):
            found = encoded.ids[:LONGEST]
            ids[i, :len(found)] = torch.tensor(found)
            lengths[i] = len(found)
        return ids, lengths

    def same_word(self) -> list[tuple[int, int]]:
        """Pairs of ids: a form of a word, and its first form, from whose weights the others may begin."""
        ids = self._tokenizer.get_vocab()
        return [(ids[form], ids[forms(word)[0]]) for word in words() for form in forms(word)[1:] if form in ids]
