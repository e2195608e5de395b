#pragma once
/// The annex preprocessing.
/// Written by tools/check_umbrella.py.

#include <distribute/preprocessing/affine_transform.hpp>
#include <distribute/preprocessing/byte_pair_tokenizer.hpp>
#include <distribute/preprocessing/category_encoding.hpp>
#include <distribute/preprocessing/discretization.hpp>
#include <distribute/preprocessing/hashing.hpp>
#include <distribute/preprocessing/normalization.hpp>
#include <distribute/preprocessing/random_images.hpp>
#include <distribute/preprocessing/sentence_piece_tokenizer.hpp>
#include <distribute/preprocessing/string_lookup.hpp>
#include <distribute/preprocessing/strings.hpp>
#include <distribute/preprocessing/text_vectorization.hpp>
#include <distribute/preprocessing/tokenizer.hpp>

#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/preprocessing_bodies.hpp>
#endif
