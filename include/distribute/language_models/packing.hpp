#pragma once
/// Joins documents to rows of one length, on which language models are trained.

#include <distribute/base/config.hpp>
#include <distribute/data/dataset.hpp>

#include <cstdint>
#include <vector>

namespace distribute::nn::applications {

/// Fills rows of `length` tokens with documents in their order. A document that no longer fits
/// begins the next row; one that is longer than a row is cut, and its parts count as documents. The
/// elements are those that fit() takes: x for a CausalLM, the next token of the same document for
/// each token, and weights that are 1 where there is one.
/// Shapes  integer [tokens] -> x int32 [2, length]: tokens, and documents counted from 1, with 0
///          behind the last; y int32 [length]; weights float32 [length].
/// Throws  InvalidArgumentError for a length below 2, and at an element that is no row of integers.
/// Source  seqio.trim_and_pack_dataset, grain.experimental.FirstFitPackIterDataset
data::Dataset pack_documents(const data::Dataset& documents, int64_t length);
/// Does the same with documents in memory.
data::Dataset pack_documents(const std::vector<std::vector<int64_t>>& documents, int64_t length);

}  // namespace distribute::nn::applications
