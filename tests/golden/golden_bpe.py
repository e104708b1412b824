# SPDX-License-Identifier: Apache-2.0
"""A tiny vocabulary of the kind that Gemma has (BPE with bytes to fall back on) and what transformers makes of many texts with it."""
import json
import pathlib

import golden_tokenizer

FOLDER = pathlib.Path(__file__).parent / "bpe_tokenizer"
SPECIAL = ["<pad>", "<eos>", "<bos>", "<unk>"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
# As Gemma's: runs of white space and marks of a conversation are cut out of a text before anything else.
ADDED = ["\n", "\n\n", "\n\n\n", "\t", "\t\t", "\u2581\u2581", "\u2581\u2581\u2581", "<start_of_turn>", "<end_of_turn>", "<h1>", "<h1>x"]
MARK = "\u2581"
FIXED = golden_tokenizer.FIXED + [
    "<bos>", "a<bos>b", "<eos> a", "<start_of_turn>user\nhi<end_of_turn>", "\n", "\n\n\n\n\n", "a\n\nb\tc", "\t\t\t", "<h1>xy", "<h1>y", "<h1",
    "a  b", "a   b", "a\u2581\u2581b", "\u2581\u2581\u2581\u2581", "<0x41>", "<0xZZ>", "\u00e9\u4e2d\U0001f98a", "x\u4e2dy", "  ", "    ",
    "a red fox " * 40,
]


def vocabulary():
    """Pieces by id, and merges as pairs: learned, then put behind special tokens and bytes as in the real files."""
    from tokenizers import Tokenizer, models, normalizers, trainers
    learner = Tokenizer(models.BPE())
    learner.normalizer = normalizers.Replace(" ", MARK)
    trainer = trainers.BpeTrainer(vocab_size=380, show_progress=False, max_token_length=12)
    learner.train_from_iterator(golden_tokenizer.corpus(), trainer)
    learned = json.loads(learner.to_str())["model"]
    pieces = SPECIAL + BYTES + ADDED
    pieces += [piece for piece, _ in sorted(learned["vocab"].items(), key=lambda item: item[1]) if piece not in pieces]
    return {piece: at for at, piece in enumerate(pieces)}, [tuple(merge) for merge in learned["merges"]]


def file_of(bos):
    from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors
    vocab, merges = vocabulary()
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", MARK)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.add_special_tokens([AddedToken(text, normalized=False, special=True) for text in SPECIAL + ["<start_of_turn>", "<end_of_turn>"]])
    tokenizer.add_tokens([AddedToken(text, normalized=False, special=False) for text in ADDED if not text.endswith("_turn>")])
    if bos:
        tokenizer.post_processor = processors.TemplateProcessing(single="<bos> $A", pair="<bos> $A <bos> $B", special_tokens=[("<bos>", vocab["<bos>"])])
    return tokenizer


def cases_of(tokenizer):
    from transformers import PreTrainedTokenizerFast
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", padding_side="left", truncation_side="right")
    for text in FIXED + list(golden_tokenizer.random_texts()):
        cut = fast(text, padding="max_length", max_length=16, truncation=True)
        yield {"text": text, "ids": fast(text).input_ids, "ids16": cut.input_ids, "mask16": cut.attention_mask}


def generate():
    FOLDER.mkdir(exist_ok=True)
    for name, bos in (("with_bos", True), ("without_bos", False)):
        tokenizer = file_of(bos)
        folder = FOLDER / name
        folder.mkdir(exist_ok=True)
        (folder / "tokenizer.json").write_text(tokenizer.to_str(pretty=False) + "\n")
        cases = list(cases_of(tokenizer))
        (folder / "cases.json").write_text(json.dumps({"cases": cases}, separators=(",", ":")) + "\n")
        print("bpe", name, tokenizer.get_vocab_size(), "ids,", len(cases), "texts")
