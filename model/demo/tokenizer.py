# SPDX-License-Identifier: Apache-2.0
"""The model's own sentencepiece vocabulary: each word of the captions is one piece, all else is spelled.

A unigram model whose scores are set by hand, because the trainer splits short words ("le" + "ft").
"""

import io
import json
import pathlib
import random
import re
import string

import sentencepiece
import torch
from sentencepiece import sentencepiece_model_pb2 as proto

import captions
import world

VOCABULARY = 320
LONGEST = 40  # ids of a training caption, its end included; longer ones are cut
SPACE = "\u2581"
WORD_SCORE, LETTER_SCORE, MARK_SCORE = -5.0, -10.0, -9.0


def words() -> list[str]:
    """Every word that a caption can have, in a fixed order."""
    rng = random.Random(7)
    scenes = world.draw(20000, torch.Generator().manual_seed(7))
    found: set[str] = set(captions.FILLERS) | {"which", "keeps", "fills", "there", "behind", "that", "are", "me"}
    for row in scenes.ints.tolist():
        found.update(re.findall(r"[a-z0-9]+", captions.caption(row, rng).lower()))
        found.update(re.findall(r"[a-z0-9]+", captions.caption(row, rng, unseen=True).lower()))
    return sorted(found)


def model_bytes() -> bytes:
    """The sentencepiece model, with the normaliser that folds case and compatibility forms."""
    trained = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a red circle"] * 20), model_writer=trained, model_type="unigram", vocab_size=20,
        hard_vocab_limit=False, normalization_rule_name="nmt_nfkc_cf", minloglevel=2)
    model = proto.ModelProto.FromString(trained.getvalue())
    model.trainer_spec.Clear()
    model.trainer_spec.model_type = proto.TrainerSpec.UNIGRAM
    model.trainer_spec.pad_id, model.trainer_spec.eos_id = 0, 1
    model.trainer_spec.unk_id, model.trainer_spec.bos_id = 2, -1
    del model.pieces[:]
    kind = proto.ModelProto.SentencePiece
    for piece, of_kind in (("<pad>", kind.CONTROL), ("</s>", kind.CONTROL), ("<unk>", kind.UNKNOWN)):
        model.pieces.add(piece=piece, score=0.0, type=of_kind)
    for word in words():
        model.pieces.add(piece=SPACE + word, score=WORD_SCORE)
    model.pieces.add(piece=SPACE, score=MARK_SCORE)
    for mark in ",.;:!?'\"-()/&+%":
        model.pieces.add(piece=mark, score=MARK_SCORE)
    for letter in string.ascii_lowercase + string.digits:
        model.pieces.add(piece=letter, score=LETTER_SCORE)
    spare = VOCABULARY - len(model.pieces)
    if spare < 0:
        raise ValueError(f"the vocabulary has {-spare} pieces too many for {VOCABULARY}")
    for i in range(spare):
        model.pieces.add(piece=f"<spare{i}>", score=-30.0, type=kind.UNUSED)
    model.trainer_spec.vocab_size = VOCABULARY
    return model.SerializeToString()


def save(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "spiece.model").write_bytes(model_bytes())
    config = {"tokenizer_class": "T5Tokenizer", "model_max_length": 128, "extra_ids": 0, "eos_token": "</s>",
              "unk_token": "<unk>", "pad_token": "<pad>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


class Encoder:
    """Captions to ids, as the pipeline's tokenizer does, without its weight."""

    def __init__(self, model: bytes):
        self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)

    def __call__(self, texts: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
        """Ids [N, LONGEST] int64 with the end and padding, and how many of each are real."""
        ids = torch.zeros(len(texts), LONGEST, dtype=torch.int64)
        lengths = torch.empty(len(texts), dtype=torch.int64)
        for i, pieces in enumerate(self._processor.encode(texts)):
            pieces = pieces[:LONGEST - 1] + [1]
            ids[i, :len(pieces)] = torch.tensor(pieces)
            lengths[i] = len(pieces)
        return ids, lengths
