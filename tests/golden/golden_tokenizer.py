# SPDX-License-Identifier: Apache-2.0
"""A tiny T5 vocabulary and what transformers makes of many texts with it."""
import io
import json
import pathlib
import random

FOLDER = pathlib.Path(__file__).parent / "tokenizer"
PIECES = 420
CONFIG = {"tokenizer_class": "T5Tokenizer", "model_max_length": 128, "extra_ids": 100,
          "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}

SUBJECTS = ["a red fox", "an old sailor", "two children", "the tired robot", "a glass whale",
            "some paper boats", "the last train", "a woman in a yellow coat", "nine white birds"]
VERBS = ["walks through", "looks at", "slowly crosses", "dances above", "falls into", "waits near",
         "is painted on", "swims under", "paints", "remembers"]
PLACES = ["a snowy forest", "the harbour at dawn", "an empty street", "the burning city",
          "a field of wheat", "deep blue water", "the kitchen table", "a wooden bridge in the rain"]
STYLES = ["cinematic, 35mm film, shallow depth of field", "worst quality, inconsistent motion, "
          "blurry, jittery, distorted", "the camera pans left; soft light", "close-up, slow motion",
          "in the style of an oil painting!", "wide shot (handheld), 4k - 24 fps"]


def corpus():
    draw = random.Random(11)
    for _ in range(3000):
        yield "%s %s %s. %s" % tuple(draw.choice(x) for x in (SUBJECTS, VERBS, PLACES, STYLES))


FIXED = [
    "", " ", "\n\t ", "a red fox walks through a snowy forest", "A Red Fox", "  spaces   inside  ",
    "trailing ", " leading", "tab\tnew\nline\r\nreturn", "</s>", "a</s>b", "a </s> b", "<pad>",
    "<unk>", "x <extra_id_0> y", "<extra_id_99><extra_id_1>", "<extra_id_100>", "<extra_id_0",
    "<EXTRA_ID_0>", "-----", "www", "))", "00000", "........", "-- -- --", "e\u0301", "caf\u00e9",
    "cafe\u0301", "\uff11\u0301", "\u00a0\u0301x", "\u0301", "a\u0301\u0301\u0301", "\u0085a\u0085",
    "\uff26\uff35\uff2c\uff2c width", "\ufb01ne \ufb02ow", "\u2581", "a\u2581b", "\u2581\u2581a",
    "\u2581 \u2581", "\U0001f98a a fox", "\U0001f98a\U0001f98a\U0001f98a", "\u72d0\u72f8",
    "\u72d0 \u72f8 fox", "\u0000", "a\u0000b", "\u200b", "a\u200bb", "\ufeffbom", "\u200d", "a\u200db",
    "\u00ad", "soft\u00adhyphen", "\u2028line", "\u3000wide", "\u1680ogham", "\u202fnarrow",
    "\u1100\u1161", "\u1112\u1161\u11ab\u1100\u1173\u11af", "\u0915\u093c", "\u0e01\u0e33",
    "\u2460\u2461", "\u00bd cup", "\u2122 \u00ae", "\ufdfa", "\u0130stanbul", "\u017f", "\u212b",
    "\uff1c/s\uff1e", "\u2126 ohm", "a\u0327\u0301", "1\u20e3", "\U0001f1e9\U0001f1ea",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u05d0\u05b7", "\u0627\u064b", "\ufe0f", "x\ufe0f",
    "\u00c5\u030a", "I don't know; it's 4:30 (p.m.)!", "~`@#$%^&*_+=[]{}|\\:;\"'<>,.?/",
    "the the the the", "thethethe", "q", "Q", "zzzzzz", "a" * 300, "blurry " * 80, "\U0010ffff",
]

ALPHABET = ("abcdefghijklmnopqrstuvwxyz" * 2 + "      ..--()019ABZ" + "\u0301\u0308\u0327\u20d7" +
            "\u00e9\u00a0\u2581\uff11\uff21\uff1c\ufb01\u200d\u200b\u0085\u3000\u1100\u1161\u0915\u093c" +
            "\u72d0\U0001f98a\U0001f3fb\u00aa\u00b2\u2026\u0660\u0645\u0600\u0483\u1ab0\ufe20\u1d16d")


def random_texts():
    draw = random.Random(12)
    for _ in range(400):
        yield "".join(draw.choice(ALPHABET) for _ in range(draw.randint(1, 24)))
    sentences = list(corpus())
    for _ in range(200):
        text = draw.choice(sentences)
        yield text[draw.randint(0, 8):draw.randint(20, len(text))].replace(" ", draw.choice([" ", "  "]))


def generate():
    import sentencepiece
    from transformers import T5Tokenizer
    FOLDER.mkdir(exist_ok=True)
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=corpus(), model_writer=model, vocab_size=PIECES, model_type="unigram",
        pad_id=0, eos_id=1, unk_id=2, bos_id=-1, pad_piece="<pad>", eos_piece="</s>",
        unk_piece="<unk>", normalization_rule_name="nmt_nfkc", num_threads=1, minloglevel=2,
        hard_vocab_limit=False)
    (FOLDER / "spiece.model").write_bytes(model.getvalue())
    (FOLDER / "tokenizer_config.json").write_text(json.dumps(CONFIG) + "\n")
    tokenizer = T5Tokenizer.from_pretrained(FOLDER)
    cases = []
    for text in FIXED + list(random_texts()):
        full = tokenizer(text, add_special_tokens=True).input_ids
        cut = tokenizer(text, padding="max_length", max_length=16, truncation=True,
                        add_special_tokens=True)
        cases.append({"text": text, "ids": full, "ids16": cut.input_ids,
                      "mask16": cut.attention_mask})
    (FOLDER / "cases.json").write_text(json.dumps({"cases": cases}, separators=(",", ":")) + "\n")
    print("tokenizer:", len(tokenizer), "ids,", len(cases), "texts")
