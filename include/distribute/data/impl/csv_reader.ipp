#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/data/detail/csv_reader.hpp>

#include <algorithm>
#include <cstring>

namespace distribute::data::data_internal {

DISTRIBUTE_INLINE std::string CsvReader::where() const {
  return str_cat(path_, ": line ", record_line_);
}

DISTRIBUTE_INLINE void CsvReader::open() {
  if (file_) return;
  ended_ = true;  // unless it opens
  file_ =
      value_or_throw(io::open_input_stream(path_, options_.compression_type, options_.buffer_size));
  ended_ = false;
}

DISTRIBUTE_INLINE void CsvReader::restore(const Position& position) {
  ended_ = position.ended;
  offset_ = position.offset;
  line_ = position.line;
  if (ended_ || offset_ == 0) return;
  open();
  if (value_or_throw(file_->skip(uint64_t(offset_))) != uint64_t(offset_))
    throw InvalidArgumentError(path_ + ": the saved position lies behind the end of the file");
}

/// Reads more of the file behind what is left of the buffer; false at the end of the file.
DISTRIBUTE_INLINE bool CsvReader::more() {
  if (file_ended_) return false;
  constexpr int64_t kLargest = 256 << 10;
  buffer_.erase(0, base_);
  base_ = 0;
  const size_t before = buffer_.size();
  buffer_.resize(before + size_t(std::min(options_.buffer_size, kLargest)));
  file_ended_ = ended_ = true;  // also where reading throws
  const size_t count =
      value_or_throw(file_->read_some(std::span(buffer_.data() + before, buffer_.size() - before)));
  ended_ = false;
  buffer_.resize(before + count);
  file_ended_ = count == 0;
  return count > 0;
}

/// Returns the place behind the line end at `at`.
DISTRIBUTE_INLINE size_t CsvReader::end_line(size_t at) {
  ++lines_in_record_;
  if (byte(at) == '\r' && has(at + 1) && byte(at + 1) == '\n') return at + 2;
  return at + 1;
}

/// Goes on with the next line after a quote at a wrong place.
DISTRIBUTE_INLINE void CsvReader::fail(size_t at, const char* what) {
  while (has(at) && byte(at) != '\n' && byte(at) != '\r') ++at;
  const std::string message =
      str_cat(where(), ", column ", spans_.size(), " (counted from 0): ", what);
  finish(has(at) ? end_line(at) : at);
  throw InvalidArgumentError(message);
}

DISTRIBUTE_INLINE size_t CsvReader::read_quoted(size_t at, bool& last) {
  Span span{at + 1, at + 1, false};
  for (at = span.begin;; ++at) {
    if (!has(at)) fail(at, "the file ends within quotes");
    const char* const rest = buffer_.data() + base_ + at;
    const size_t size = buffer_.size() - base_ - at;
    const auto* const quote = static_cast<const char*>(std::memchr(rest, '"', size));
    const size_t skipped = quote ? size_t(quote - rest) : size;
    lines_in_record_ += std::count(rest, rest + skipped, '\n');
    at += skipped;
    if (!quote) {
      --at;
      continue;
    }
    if (!has(at + 1) || byte(at + 1) != '"') break;
    span.doubled = true;
    ++at;
  }
  span.end = at++;
  const bool ends = !has(at) || byte(at) == '\n' || byte(at) == '\r';
  if (!ends && byte(at) != options_.field_delim) fail(at, "a quote within quotes must be doubled");
  spans_.push_back(span);
  last = ends;
  if (!has(at)) return at;
  return ends ? end_line(at) : at + 1;
}

/// Reads the field at `at` and returns the place behind what ends it. `last`: it ends the record.
DISTRIBUTE_INLINE size_t CsvReader::read_field(size_t at, bool& last) {
  const bool quotes = options_.use_quote_delim;
  if (quotes && has(at) && byte(at) == '"') return read_quoted(at, last);
  const size_t begin = at;
  const char delim = options_.field_delim;
  while (has(at)) {
    const char* c = buffer_.data() + base_ + at;
    const char* const end = buffer_.data() + buffer_.size();
    while (c < end && *c != delim && *c != '\n' && *c != '\r' && *c != '"') ++c;
    at = size_t(c - buffer_.data()) - base_;
    if (c == end) continue;
    if (*c != '"') break;
    if (quotes) fail(at, "a field without quotes around it cannot have quotes inside");
    ++at;
  }
  spans_.push_back({begin, at, false});
  last = !has(at) || byte(at) != delim;
  if (!has(at)) return at;
  return last ? end_line(at) : at + 1;
}

/// Moves on to the next record, `size` bytes ahead.
DISTRIBUTE_INLINE void CsvReader::finish(size_t size) {
  base_ += size;
  offset_ += int64_t(size);
  line_ += lines_in_record_;
}

/// Makes one quote of each two, in place, and returns the new end.
DISTRIBUTE_INLINE char* undouble_quotes(char* begin, const char* end) {
  char* out = begin;
  for (const char* in = begin; in < end; ++in) {
    if (*in == '"') ++in;
    *out++ = *in;
  }
  return out;
}

DISTRIBUTE_INLINE bool CsvReader::next(std::vector<std::string_view>& fields) {
  fields.clear();
  if (ended_) return false;
  open();
  if (offset_ == 0 && has(2) && buffer_.starts_with("\xEF\xBB\xBF")) finish(3);  // byte order mark
  if (!has(0)) return !(ended_ = true);
  spans_.clear();
  record_line_ = line_;
  lines_in_record_ = 0;
  size_t at = 0;
  for (bool last = false; !last;) at = read_field(at, last);
  for (Span& span : spans_) {
    char* const begin = buffer_.data() + base_ + span.begin;
    char* end = buffer_.data() + base_ + span.end;
    if (span.doubled) end = undouble_quotes(begin, end);
    fields.emplace_back(begin, size_t(end - begin));
  }
  finish(at);
  return true;
}

}  // namespace distribute::data::data_internal
