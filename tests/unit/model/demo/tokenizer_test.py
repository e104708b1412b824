# SPDX-License-Identifier: Apache-2.0
"""The vocabulary: a word of the captions is one piece, any other text is spelled, and the shipped file is the code's."""

import unittest

import demo_sources
import sentencepiece
import tokenizer

NEEDS = ("sentencepiece", "google.protobuf")
MODEL = tokenizer.model_bytes()


class Tokenizer(unittest.TestCase):
    def setUp(self):
        self.pieces = sentencepiece.SentencePieceProcessor(model_proto=MODEL)

    def test_each_word_of_the_captions_is_one_piece(self):
        for word in tokenizer.words():
            self.assertEqual(self.pieces.encode(word, out_type=str), [tokenizer.SPACE + word])

    def test_case_and_width_do_not_matter(self):
        self.assertEqual(self.pieces.encode("A RED circle"), self.pieces.encode("a red \uff43ircle"))

    def test_other_words_are_spelled(self):
        spelled = self.pieces.encode("zebra", out_type=str)
        self.assertEqual("".join(spelled).removeprefix(tokenizer.SPACE), "zebra")
        self.assertGreater(len(spelled), 3)

    def test_captions_end_and_are_padded(self):
        ids, lengths = tokenizer.Encoder(MODEL)(["a red circle", "a word " * 60])
        self.assertEqual(lengths.tolist(), [4, tokenizer.LONGEST])
        self.assertEqual(ids[0, 3:5].tolist(), [1, 0])
        self.assertEqual(ids[1, -1].item(), 1)

    @unittest.skipUnless((demo_sources.WEIGHTS / "tokenizer").exists(), "the weights are not here")
    def test_the_shipped_vocabulary_is_the_one_that_the_code_makes(self):
        """Weights are learnt by id: another list of words needs another training."""
        shipped = sentencepiece.SentencePieceProcessor(str(demo_sources.WEIGHTS / "tokenizer/spiece.model"))
        names = [[p.id_to_piece(i) for i in range(p.get_piece_size())] for p in (shipped, self.pieces)]
        self.assertEqual(*names)


if __name__ == "__main__":
    unittest.main()
