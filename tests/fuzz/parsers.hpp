#pragma once
/// What the fuzzers run: each parser takes any bytes, and may refuse them, but not crash.

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/checkpoint/detail/bundle_entry.hpp>
#include <distribute/checkpoint/detail/bundle_table.hpp>
#include <distribute/checkpoint/detail/object_graph.hpp>
#include <distribute/data/decode_image.hpp>
#include <distribute/data/detail/csv_reader.hpp>
#include <distribute/data/example.hpp>
#include <distribute/io/compression.hpp>
#include <distribute/io/detail/wire.hpp>
#include <distribute/io/tfrecord.hpp>
#include <distribute/saving/keras_model.hpp>
#include <distribute/summary/event.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

/// Calls a parser and lets it refuse the bytes in the one way it may.
template <typename Parse>
void may_refuse(Parse&& parse) {
  try {
    parse();
  } catch (const distribute::Error&) {
  }
}

inline void bundle_index(std::string_view bytes) {
  may_refuse([&] {
    distribute::train::BundleHeader header;
    distribute::train::decode_bundle_index(bytes, "fuzz", header);
  });
}

/// Rows behind valid checksums, so that the fuzzer reaches the protos: length, key, value.
inline void bundle_rows(std::string_view bytes) {
  distribute::train::TableBuilder table;
  std::string last;
  bool first = true;
  uint64_t key_size = 0, value_size = 0;
  std::string_view key, value;
  while (distribute::io::take_varint(bytes, key_size) &&
         distribute::io::take_bytes(bytes, key_size, key) &&
         distribute::io::take_varint(bytes, value_size) &&
         distribute::io::take_bytes(bytes, value_size, value)) {
    if (!first && key <= last) continue;
    table.add(key, value);
    last = key;
    first = false;
  }
  bundle_index(table.finish());
}

/// A block behind a valid checksum, so that the fuzzer reaches the rows.
inline void table_block(std::string_view bytes) {
  std::string table = std::string(bytes) + '\0';
  distribute::io::append_fixed32(table, distribute::io::mask_crc(distribute::io::crc32c(table)));
  std::string footer;
  for (int i = 0; i < 2; ++i) {
    footer += '\0';
    distribute::io::append_varint(footer, bytes.size());
  }
  footer.resize(40);
  distribute::io::append_fixed64(footer, 0xdb4775248b80fb57u);
  bundle_index(table + footer);
}

inline void tfrecord(std::string_view bytes) {
  distribute::io::RecordReader reader(distribute::io::memory_input_stream(bytes, "fuzz"));
  std::string record;
  for (auto more = reader.next(record); more.ok() && *more;) more = reader.next(record);
}

inline void example(std::string_view bytes) {
  may_refuse([&] { distribute::data::decode_example(bytes, "fuzz"); });
  using distribute::data::FeatureKind;
  may_refuse([&] {
    distribute::data::parse_single_example(
        bytes,
        {{"b", distribute::data::fixed_len_feature(FeatureKind::Bytes, {2})},
         {"f", distribute::data::var_len_feature(FeatureKind::Float)}},
        "fuzz");
  });
}

inline void sequence_example(std::string_view bytes) {
  may_refuse([&] { distribute::data::decode_sequence_example(bytes, "fuzz"); });
  using distribute::data::FeatureKind;
  may_refuse([&] {
    const std::string_view twice[] = {bytes, bytes};
    distribute::data::parse_sequence_example(
        twice, {{"b", distribute::data::var_len_feature(FeatureKind::Bytes)}},
        {{"f", distribute::data::fixed_len_sequence_feature(FeatureKind::Float, {2}, true)},
         {"i", distribute::data::var_len_sequence_feature(FeatureKind::Int64)}},
        "fuzz");
  });
}

inline void csv(std::string_view bytes) {
  using distribute::data::CsvType;
  distribute::data::data_internal::CsvLayout layout{
      .columns = {CsvType::Int32, CsvType::Float32, CsvType::Bytes, std::string("default")}};
  layout.options.buffer_size = 7;
  const std::string name = "fuzz";
  distribute::data::data_internal::CsvReader reader(
      name, layout.options, distribute::io::memory_input_stream(bytes, name));
  std::vector<std::string_view> fields;
  std::string row;
  for (bool more = true; more;)
    may_refuse([&] {
      more = reader.next(fields);
      if (!more) return;
      distribute::data::data_internal::pack_record(fields, layout, reader.where(), row);
      distribute::data::data_internal::unpack_record(row, layout.columns);
    });
}

inline void jpeg(std::string_view bytes) {
  constexpr int64_t kMostPixels = 1 << 16;
  may_refuse([&] { distribute::data::decode_jpeg(bytes, {.max_pixels = kMostPixels}); });
  may_refuse([&] {
    distribute::data::decode_and_crop_jpeg(
        bytes, {3, 2, 5, 4},
        {.channels = 0, .ratio = 2, .try_recover_truncated = true, .max_pixels = kMostPixels});
  });
}

inline void png(std::string_view bytes) {
  constexpr int64_t kMostPixels = 1 << 16;
  may_refuse([&] { distribute::data::decode_png(bytes, {.max_pixels = kMostPixels}); });
  may_refuse([&] { distribute::data::decode_image(bytes, {0, kMostPixels}); });
}

inline void gzip(std::string_view bytes) {
  if (bytes.size() > 4096) return;  // a bomb is the caller's matter, not the parser's
  distribute::io::decompress_gzip(bytes, "fuzz").IgnoreError();
}

inline void object_graph(std::string_view bytes) {
  may_refuse([&] { distribute::train::decode_object_graph(bytes, "fuzz"); });
}

inline void checkpoint_state(std::string_view bytes) {
  may_refuse([&] { distribute::train::decode_checkpoint_state(bytes, "fuzz"); });
}

inline void event(std::string_view bytes) {
  may_refuse([&] { distribute::summary::decode_event(bytes, "fuzz"); });
}

inline void safetensors(std::string_view bytes) {
  may_refuse([&] { distribute::saving::safetensors::deserialize(bytes, "fuzz"); });
}

/// A header behind its right length, so that the fuzzer reaches the tensors, with 64 bytes of data.
inline void safetensors_header(std::string_view bytes) {
  std::string file(sizeof(uint64_t), '\0');
  const uint64_t length = bytes.size();
  std::memcpy(file.data(), &length, sizeof length);
  safetensors(file.append(bytes).append(64, '\1'));
}

}  // namespace fuzz
