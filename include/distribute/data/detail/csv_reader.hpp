#pragma once
/// Reads CSV files record by record, and packs records into bytes and into columns.

#include <distribute/base/config.hpp>
#include <distribute/data/csv.hpp>
#include <distribute/io/compression.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace distribute::data::data_internal {

/// The form of the files and the columns that are read.
struct CsvLayout {
  std::vector<CsvDefault> columns = {};  // of the selected columns
  std::vector<std::string> names = {};   // of the selected columns; may be empty
  CsvOptions options = {};               // select_cols are the numbers of `columns`, or empty
};

/// Splits one file into records and fields. One thread at a time.
class CsvReader {
 public:
  /// Opens the file at its first record, unless `file` has its bytes. `path` is for messages, too;
  /// it and `options` outlive the reader.
  CsvReader(const std::string& path, const CsvOptions& options,
            std::unique_ptr<io::InputStream> file = nullptr)
      : path_(path), options_(options), file_(std::move(file)) {}

  /// Gives the fields of the next record, valid until the next call; false at the end.
  /// Throws  InvalidArgumentError for quotes at a wrong place; what reading throws. The next call
  ///         goes on behind it.
  bool next(std::vector<std::string_view>& fields);
  /// The place of the record that was given last, such as "a.csv: line 3".
  std::string where() const;

  struct Position {
    int64_t offset = 0, line = 1;  // of the next record
    bool ended = false;
  };
  Position position() const { return {offset_, line_, ended_}; }
  /// Allowed on a reader that has given nothing yet.
  void restore(const Position& position);

 private:
  struct Span {
    size_t begin, end;  // from base_ on
    bool doubled;       // whether it has doubled quotes
  };

  void open();
  bool more();
  bool has(size_t at) { return base_ + at < buffer_.size() || more(); }
  char byte(size_t at) const { return buffer_[base_ + at]; }
  size_t read_field(size_t at, bool& last);
  size_t read_quoted(size_t at, bool& last);
  size_t end_line(size_t at);
  [[noreturn]] void fail(size_t at, const char* what);
  void finish(size_t size);

  const std::string& path_;
  const CsvOptions& options_;
  std::unique_ptr<io::InputStream> file_;  // open from the first record on
  std::string buffer_;
  size_t base_ = 0;          // where the next record starts in the buffer
  std::vector<Span> spans_;  // of the record that is read now
  int64_t offset_ = 0, line_ = 1, record_line_ = 1, lines_in_record_ = 0;
  bool file_ended_ = false, ended_ = false;
};

/// Appends the values of one record to `row`: eight bytes for each column, then its texts.
/// Throws  InvalidArgumentError that names the place and the column.
void pack_record(std::span<const std::string_view> fields, const CsvLayout& layout,
                 const std::string& where, std::string& row);

/// Makes the components of one packed record, and of several with a batch axis.
std::vector<Tensor> unpack_record(std::string_view row, const std::vector<CsvDefault>& columns);
std::vector<Tensor> unpack_records(const std::vector<Batch>& rows,
                                   const std::vector<CsvDefault>& columns);

CsvType type_of(const CsvDefault& column);
/// The first type of int32, int64, float32 and bytes that can hold a text.
CsvType narrowest_type(std::string_view text);
/// The dtype and shape of the columns in an element.
ElementSpec spec_of_columns(const CsvLayout& layout);

/// Gives the packed records of the files, as bytes. The files are read in turn,
/// `num_parallel_reads` at a time, in a new order in each pass with `shuffle`.
NodePtr packed_records(std::vector<std::string> paths, CsvLayout layout, int64_t num_parallel_reads,
                       bool shuffle, std::optional<uint64_t> seed);

/// Checks that options and columns fit together. Throws  InvalidArgumentError.
void check_layout(const std::vector<std::string>& paths, const CsvLayout& layout, const char* op);

}  // namespace distribute::data::data_internal
