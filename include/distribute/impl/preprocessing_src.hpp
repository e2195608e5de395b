#pragma once
/// All bodies of the annex preprocessing.
/// Written by tools/check_umbrella.py.

#include <distribute/preprocessing/impl/affine_transform.ipp>
#include <distribute/preprocessing/impl/category_encoding.ipp>
#include <distribute/preprocessing/impl/discretization.ipp>
#include <distribute/preprocessing/impl/hashing.ipp>
#include <distribute/preprocessing/impl/index_lookup.ipp>
#include <distribute/preprocessing/impl/keyed_hash.ipp>
#include <distribute/preprocessing/impl/keyed_hash_stub.ipp>
#include <distribute/preprocessing/impl/normalization.ipp>
#include <distribute/preprocessing/impl/quantiles.ipp>
#include <distribute/preprocessing/impl/random_images.ipp>
#include <distribute/preprocessing/impl/string_hash.ipp>
#include <distribute/preprocessing/impl/string_hash_stub.ipp>
#include <distribute/preprocessing/impl/strings.ipp>
#include <distribute/preprocessing/impl/text_vectorization.ipp>
