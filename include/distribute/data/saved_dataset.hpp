#pragma once
/// Datasets in files, as tf.data saves and loads them.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>
#include <distribute/io/compression.hpp>

#include <string>

namespace distribute::data {

/// Writes all elements of a pass into the directory `path`, in TensorFlow's format: TensorFlow 2.21
/// loads it. Names are kept where every component has one. What was saved there before stays as it
/// is, but is not found any more.
/// Throws  InvalidArgumentError for a dataset without an end; what writing files throws.
/// Source  tf.data.Dataset.save
void save_dataset(const Node& node, const std::string& path, io::Compression compression);

/// The elements in order; those of several shards in turn. A structure becomes the row of its
/// tensors as tf.nest flattens it, a dict one with names. Strings become bytes (data/bytes.hpp).
/// Throws  NotFoundError where nothing is saved; DataLossError for damage.
/// Source  tf.data.Dataset.load
NodePtr saved_source(const std::string& path, io::Compression compression);

/// As cache_node, with the elements in `filename` (TFRecords of TensorProtos), which is written
/// when a pass has come to the end of the input. Where the file exists it is read, by later
/// programs too, and the input is not. Workers need files of their own. Source
/// tf.data.Dataset.cache(filename)
NodePtr file_cache_node(NodePtr input, std::string filename);

}  // namespace distribute::data
