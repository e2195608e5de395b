#pragma once
#include <distribute/base/detail/file_size_signal.hpp>
#include <distribute/base/detail/number_text.hpp>
#include <distribute/base/error.hpp>
#include <distribute/data/detail/csv_reader.hpp>
#include <distribute/io/detail/open_output.hpp>
#include <distribute/train/callbacks.hpp>
#include <distribute/train/detail/callback_state.hpp>
#include <distribute/train/model.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

namespace distribute::train_internal {

/// Whether rows can be cut off the file: not off a device or a pipe.
DISTRIBUTE_INLINE bool is_regular(std::FILE* file) {
  struct stat info {};
  return ::fstat(::fileno(file), &info) == 0 && S_ISREG(info.st_mode);
}

/// Writes a cell as Python's module csv does: in quotes where it could not be told from several.
DISTRIBUTE_INLINE std::string csv_cell(const std::string& text, const std::string& separator) {
  if (text.find_first_of("\"\r\n") == std::string::npos &&
      text.find(separator) == std::string::npos)
    return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace distribute::train_internal

namespace distribute::train {

DISTRIBUTE_INLINE CSVLogger::CSVLogger(CSVLoggerOptions options) : options_(std::move(options)) {
  if (options_.filename.empty()) throw InvalidArgumentError("CSVLogger: the file name is empty");
  const std::string& separator = options_.separator;
  if (separator.size() != 1 || separator.find_first_of("\"\r\n") != std::string::npos)
    throw InvalidArgumentError(
        "CSVLogger: the separator must be one character of ASCII, and neither a "
        "quote nor the end of a line");
}

/// Reads the columns of an existing file.
DISTRIBUTE_INLINE void CSVLogger::read_header() {
  const data::CsvOptions options{.field_delim = options_.separator[0]};
  data::data_internal::CsvReader file(options_.filename, options);
  std::vector<std::string_view> cells;
  if (file.next(cells)) columns_.assign(cells.begin() + 1, cells.end());  // behind the epoch
}

/// Keeps the file until the first epoch begins: only then it is known which rows to keep.
DISTRIBUTE_INLINE void CSVLogger::on_train_begin(Logs&) {
  kept_ = 0;
  is_cut_ = false;
  if (!model().is_chief()) return;
  base_internal::ignore_file_size_signal();
  std::FILE* file = io_internal::append_to(options_.filename);
  if (!file)
    throw PermissionDeniedError(
        str_cat("CSVLogger: cannot write ", options_.filename, ": ", std::strerror(errno)));
  file_.reset(file, &std::fclose);
  if (options_.append && train_internal::is_regular(file)) kept_ = size();
}

DISTRIBUTE_INLINE int64_t CSVLogger::size() const {
  check(std::fseek(file_.get(), 0, SEEK_END) == 0);
  return std::ftell(file_.get());
}

DISTRIBUTE_INLINE void CSVLogger::cut() {
  is_cut_ = true;
  if (!train_internal::is_regular(file_.get())) return;
  kept_ = std::min(kept_, size());
  check(::ftruncate(::fileno(file_.get()), off_t(kept_)) == 0);
  columns_.clear();
  if (kept_ > 0) read_header();
}

DISTRIBUTE_INLINE void CSVLogger::on_epoch_begin(int64_t, Logs&) {
  if (file_ && !is_cut_) cut();
}

DISTRIBUTE_INLINE CheckpointParts CSVLogger::state() {
  return {{"csv_logger", train_internal::numbers_state({&kept_}, [this] { is_cut_ = false; })}};
}

DISTRIBUTE_INLINE void CSVLogger::check(bool ok) const {
  if (ok) return;
  throw ResourceExhaustedError(
      str_cat("CSVLogger: cannot write ", options_.filename, ": ", std::strerror(errno)));
}

/// Ends the line as Python's module csv does.
DISTRIBUTE_INLINE void CSVLogger::write_line(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells)
    line += (line.empty() ? "" : options_.separator) +
            train_internal::csv_cell(cell, options_.separator);
  line += "\r\n";
  check(std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size() &&
        std::fflush(file_.get()) == 0);
  if (train_internal::is_regular(file_.get())) kept_ = size();
}

/// Writes the columns of a validation from the start, as Keras does: it may run in later epochs, or
/// in a later fit that appends.
DISTRIBUTE_INLINE void CSVLogger::write_header(const Logs& logs) {
  for (const auto& [name, value] : logs) columns_.push_back(name);
  const bool validated = std::any_of(columns_.begin(), columns_.end(), [](const std::string& name) {
    return name.starts_with("val_");
  });
  std::sort(columns_.begin(), columns_.end());
  const size_t trained = columns_.size();
  for (size_t i = 0; !validated && i < trained; ++i) columns_.push_back("val_" + columns_[i]);
  std::vector<std::string> cells{"epoch"};
  cells.insert(cells.end(), columns_.begin(), columns_.end());
  write_line(cells);
}

DISTRIBUTE_INLINE void CSVLogger::on_epoch_end(int64_t epoch, Logs& logs) {
  if (!file_) return;
  if (columns_.empty()) write_header(logs);
  std::vector<std::string> cells{std::to_string(epoch)};
  for (const std::string& name : columns_) {
    const double* value = logs.find(name);
    cells.push_back(value ? base_internal::python_number(*value) : "NA");
  }
  write_line(cells);
}

DISTRIBUTE_INLINE void CSVLogger::on_train_end(Logs&) { file_.reset(); }

}  // namespace distribute::train
