#pragma once
#include <distribute/base/detail/file_size_signal.hpp>
#include <distribute/base/detail/number_text.hpp>
#include <distribute/base/error.hpp>
#include <distribute/train/callbacks.hpp>
#include <distribute/train/model.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE CSVLogger::CSVLogger(CSVLoggerOptions options) : options_(std::move(options)) {
  if (options_.filename.empty()) throw InvalidArgumentError("CSVLogger: the file name is empty");
  if (options_.separator.empty()) throw InvalidArgumentError("CSVLogger: the separator is empty");
}

/// The columns of a file that is there already.
DISTRIBUTE_INLINE void CSVLogger::read_header() {
  std::ifstream file(options_.filename);
  std::string line;
  if (!std::getline(file, line)) return;
  const std::string& separator = options_.separator;
  for (size_t begin = line.find(separator); begin != std::string::npos;) {
    begin += separator.size();
    const size_t end = line.find(separator, begin);
    columns_.push_back(line.substr(begin, end == std::string::npos ? end : end - begin));
    begin = end;
  }
}

DISTRIBUTE_INLINE void CSVLogger::on_train_begin(Logs&) {
  columns_.clear();
  if (!model().is_chief()) return;
  if (options_.append) read_header();
  base_internal::ignore_file_size_signal();
  std::FILE* file = std::fopen(options_.filename.c_str(), options_.append ? "a" : "w");
  if (!file)
    throw PermissionDeniedError(
        str_cat("CSVLogger: cannot write ", options_.filename, ": ", std::strerror(errno)));
  file_.reset(file, &std::fclose);
}

DISTRIBUTE_INLINE void CSVLogger::write_line(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) line += (line.empty() ? "" : options_.separator) + cell;
  line += '\n';
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() ||
      std::fflush(file_.get()) != 0)
    throw ResourceExhaustedError(
        str_cat("CSVLogger: cannot write ", options_.filename, ": ", std::strerror(errno)));
}

/// With a validation that is not due in every epoch its columns are there from the start.
DISTRIBUTE_INLINE void CSVLogger::write_header(const Logs& logs) {
  for (const auto& [name, value] : logs) columns_.push_back(name);
  const bool validated = std::any_of(columns_.begin(), columns_.end(), [](const std::string& name) {
    return name.starts_with("val_");
  });
  if (params().has_validation && !validated)
    for (const auto& [name, value] : logs) columns_.push_back("val_" + name);
  std::sort(columns_.begin(), columns_.end());
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
    cells.push_back(value ? base_internal::nine_digits(*value) : "NA");
  }
  write_line(cells);
}

DISTRIBUTE_INLINE void CSVLogger::on_train_end(Logs&) { file_.reset(); }

}  // namespace distribute::train
