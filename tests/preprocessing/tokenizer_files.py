"""Writes tokenizers/: small tokenizers and what the packages tokenizers and sentencepiece give.

Usage: python3 tokenizer_files.py     in this directory; pip install tokenizers sentencepiece
"""
import io
import json
import pathlib

import sentencepiece
from tokenizers import (Regex, Tokenizer, decoders, models, pre_tokenizers, processors,
                        trainers)

PLACE = pathlib.Path(__file__).parent / "tokenizers"
LINES = ["the quick brown fox jumps over the lazy dog", "the dog and the fox are friends",
         "there they were, the other three", "1234 and 12 and 2024 numbers", "over and over again",
         "na\u00efve caf\u00e9s serve th\u00e9", "it's what they'd said; we'll see"] * 3
TEXTS = ["the fox", "The quick brown fox.", "  two  spaces and a tail  ", "it's they'd we'll I'M",
         "12345 and 3 numbers", "caf\u00e9 na\u00efve \u4f60\u597d \U0001f642!", "tab\tnew\n\nlines \u00a0 nbsp",
         "", "a<|end|>the <|end|>", "x\u0301 \u00bd \u2163 \u0967", "th" * 40, "<mark>over<|end|"]
LLAMA = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
         r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def byte_pairs(name, pre_tokenizer, template=None, ignore_merges=False):
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(LINES, trainers.BpeTrainer(
        vocab_size=310, special_tokens=["<|end|>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.add_tokens(["<mark>"])
    byte_level = processors.ByteLevel(trim_offsets=False)
    if template:
        template = processors.TemplateProcessing(single=template, special_tokens=[("<|end|>", 0)])
        byte_level = processors.Sequence([byte_level, template])
    tokenizer.post_processor = byte_level
    (PLACE / f"{name}.json").write_text(tokenizer.to_str() + "\n")
    return [{"text": text, "ids": (ids := tokenizer.encode(text).ids),
             "plain": tokenizer.encode(text, add_special_tokens=False).ids,
             "decoded": tokenizer.decode(ids)} for text in TEXTS]


def sentence_pieces(name, kind, **options):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES), model_writer=model, vocab_size=50, model_type=kind,
        normalization_rule_name="identity", minloglevel=2, **options)
    (PLACE / f"{name}.model").write_bytes(model.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return [{"text": text, "ids": (ids := processor.encode(text, add_bos=True, add_eos=True)),
             "plain": processor.encode(text), "decoded": processor.decode(ids)} for text in TEXTS]


PLACE.mkdir(exist_ok=True)
ByteLevel, Sequence = pre_tokenizers.ByteLevel, pre_tokenizers.Sequence
answers = {
    "gpt2": byte_pairs("gpt2", ByteLevel(add_prefix_space=False)),
    "prefixed": byte_pairs("prefixed", Sequence([pre_tokenizers.Digits(individual_digits=True),
                                                 ByteLevel(add_prefix_space=True)])),
    "llama3": byte_pairs("llama3", Sequence([
        pre_tokenizers.Split(Regex(LLAMA), "isolated"),
        ByteLevel(add_prefix_space=False, use_regex=False)]), "<|end|> $A", ignore_merges=True),
    "unigram": sentence_pieces("unigram", "unigram"),
    "bpe": sentence_pieces("bpe", "bpe", byte_fallback=False),
}
(PLACE / "answers.json").write_text(json.dumps(answers, separators=(",", ":")) + "\n")
