#pragma once
/// The records of TensorBoard's event files, as protobuf bytes.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::summary {

/// What a dashboard shows under one tag at one step. The value is an encoded TensorProto.
struct Value {
  std::string tag;
  std::string plugin;  // dashboard: "scalars", "histograms", "images", "text"
  std::string tensor;
  std::string description = {};     // Markdown
  std::string plugin_content = {};  // bytes that belong to the plugin, used by hparams
};

/// Returns the first record of a file.
std::string encode_file_version(double wall_time);
/// Returns a record with one value; wall_time in seconds since 1970.
/// Source  tensorflow/core/util/event.proto
std::string encode_event(double wall_time, int64_t step, const Value& value);

/// Returns a record with a graph, an encoded GraphDef.
std::string encode_graph_event(double wall_time, int64_t step, std::string_view graph_def);

/// Encodes numbers in row-major order as a TensorProto; dims {} makes a scalar.
std::string encode_tensor(float value);
/// Encodes a tensor without elements, for values whose data is in the plugin's content.
std::string encode_no_tensor();
std::string encode_tensor(std::span<const double> values, const std::vector<int64_t>& dims);
std::string encode_tensor(std::span<const std::string> values, const std::vector<int64_t>& dims);

/// Gives rows (left edge, right edge, count) for `buckets` equal parts of the range; the last part
/// includes its right edge. For a range of zero length the last bucket has the whole count.
/// Source  tensorboard/plugins/histogram/summary_v2.py
std::vector<double> histogram_buckets(std::span<const float> values, int64_t buckets);

/// One record as read from a file.
struct Event {
  double wall_time = 0;
  int64_t step = 0;
  std::string file_version = {};
  std::string graph_def = {};  // encoded GraphDef
  struct Entry {
    std::string tag, plugin;
    std::string plugin_content = {};
    int dtype = 0;  // TensorFlow's number; 0 when the value is not a tensor
    std::vector<int64_t> dims = {};
    bool has_number = false;
    double number = 0;  // a scalar's value
  };
  std::vector<Entry> entries = {};
};

/// Reads a record of this library, of TensorFlow 2, or of TensorFlow 1 (simple_value).
/// Throws  DataLossError with `where` when the bytes are malformed.
Event decode_event(std::string_view record, const std::string& where);

}  // namespace distribute::summary
