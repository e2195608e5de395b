#pragma once
/// tf.train.SequenceExample records: features of a sequence as a whole, and lists of one feature
/// for each step.

#include <distribute/base/config.hpp>
#include <distribute/data/example.hpp>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::data {

/// One feature for each step. Source  tf.train.FeatureList
using FeatureList = std::vector<Feature>;
/// Lists by name. Source  tf.train.FeatureLists
using FeatureLists = std::map<std::string, FeatureList>;

/// A sequence: features of all of it, and lists of features of its steps.
/// Source  tf.train.SequenceExample
struct SequenceExample {
  Features context = {};
  FeatureLists feature_lists = {};
};

/// Encodes a record with sorted names.
/// Source  tf.train.SequenceExample(...).SerializeToString(deterministic=True)
std::string encode_sequence_example(const SequenceExample& example);

/// Decodes all features of a record. `where` begins error messages.
/// Throws  DataLossError when the bytes are no SequenceExample.
/// Source  tf.train.SequenceExample.FromString
SequenceExample decode_sequence_example(std::string_view record, const std::string& where);

/// Describes the list of features that a reader expects.
struct SequenceFeatureSpec {
  FeatureSpec step = {};       // of one step
  bool allow_missing = false;  // whether a missing list is one without steps
};

/// Requires values of this shape in every step. Source  tf.io.FixedLenSequenceFeature
SequenceFeatureSpec fixed_len_sequence_feature(FeatureKind kind, std::vector<int64_t> shape = {},
                                               bool allow_missing = false);
/// Allows any number of values in every step, and no list at all.
/// Source  tf.io.VarLenFeature, tf.io.RaggedFeature among sequence_features
SequenceFeatureSpec var_len_sequence_feature(FeatureKind kind);

using SequenceFeatureSpecs = std::map<std::string, SequenceFeatureSpec>;

/// The values of one list in one example, or in all examples of a batch.
struct ParsedFeatureList {
  Tensor values = {};                        // Float: float32, Int64: int64
  std::vector<std::string_view> bytes = {};  // Bytes: views into the records
  Tensor row_lengths = {};  // int64: values of each step, of all examples; variable lists only
  Tensor lengths = {};      // int64 [batch]: steps of each example; batches only
};

/// A parsed record, or all records of a batch.
struct ParsedSequenceExample {
  ParsedExample context = {};
  std::map<std::string, ParsedFeatureList> feature_lists = {};
};

/// Parses a record. A list of fixed steps has values [steps, shape...], one of variable steps all
/// values in order, [count], with their numbers in `row_lengths`.
/// Throws  InvalidArgumentError that names `where`, the feature, the step and the mismatch; what
///         parse_single_example() throws for the context.
/// Source  tf.io.parse_single_sequence_example
ParsedSequenceExample parse_single_sequence_example(std::string_view record,
                                                    const FeatureSpecs& context_features,
                                                    const SequenceFeatureSpecs& sequence_features,
                                                    const std::string& where);

/// Parses a batch of records. Lists of fixed steps are filled up with zeros (and empty bytes) to
/// the longest, [batch, steps, shape...]; those of variable steps stay flat.
/// Throws  what parse_single_sequence_example() throws; the message adds the number in the batch.
/// Source  tf.io.parse_sequence_example
ParsedSequenceExample parse_sequence_example(std::span<const std::string_view> records,
                                             const FeatureSpecs& context_features,
                                             const SequenceFeatureSpecs& sequence_features,
                                             const std::string& where);

}  // namespace distribute::data
