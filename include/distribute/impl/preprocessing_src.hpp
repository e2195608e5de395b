#pragma once
/// All bodies of the annex preprocessing.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/preprocessing/impl/affine_transform.ipp>
#include <distribute/preprocessing/impl/byte_pair_tokenizer.ipp>
#include <distribute/preprocessing/impl/byte_pairs.ipp>
#include <distribute/preprocessing/impl/category_encoding.ipp>
#include <distribute/preprocessing/impl/discretization.ipp>
#include <distribute/preprocessing/impl/hashed_crossing.ipp>
#include <distribute/preprocessing/impl/hashing.ipp>
#include <distribute/preprocessing/impl/index_lookup.ipp>
#include <distribute/preprocessing/impl/learned.ipp>
#include <distribute/preprocessing/impl/normalization.ipp>
#include <distribute/preprocessing/impl/pattern.ipp>
#include <distribute/preprocessing/impl/pattern_stub.ipp>
#include <distribute/preprocessing/impl/random_images.ipp>
#include <distribute/preprocessing/impl/sentence_piece_tokenizer.ipp>
#include <distribute/preprocessing/impl/sentence_piece_tokenizer_stub.ipp>
#include <distribute/preprocessing/impl/string_hash.ipp>
#include <distribute/preprocessing/impl/string_hash_keyed.ipp>
#include <distribute/preprocessing/impl/string_hash_keyed_stub.ipp>
#include <distribute/preprocessing/impl/string_hash_stub.ipp>
#include <distribute/preprocessing/impl/strings.ipp>
#include <distribute/preprocessing/impl/text_vectorization.ipp>
#include <distribute/preprocessing/impl/tokenizer.ipp>
#include <distribute/preprocessing/impl/tokenizer_json.ipp>

#include <distribute/base/detail/macros_back.inc>
