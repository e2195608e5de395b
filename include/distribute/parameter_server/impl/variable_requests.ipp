#pragma once
#include <distribute/base/error.hpp>
#include <distribute/parameter_server/detail/variable_requests.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

namespace distribute::parameter_server {

/// Receives all values of a variable.
DISTRIBUTE_INLINE void receive_values(LinkStream& stream, const StoredVariable& variable,
                                      const Buffer& out) {
  if (stream.unread() != uint64_t(variable.bytes()))
    throw InvalidArgumentError(str_cat("assign: variable '", variable.key(), "' has ",
                                       variable.bytes(), " bytes, got ", stream.unread()));
  stream.receive({static_cast<std::byte*>(out.data()), size_t(variable.bytes())});
}

DISTRIBUTE_INLINE void assign(LinkStream& stream, StoredVariable& variable) {
  const Buffer values(variable.bytes(), Device{});
  receive_values(stream, variable, values);
  variable.assign(static_cast<const std::byte*>(values.data()));
  stream.answer();
}

DISTRIBUTE_INLINE void assign_add(LinkStream& stream, StoredVariable& variable,
                                  const UpdateOrigin& origin, AppliedUpdates& applied) {
  const Buffer values(variable.bytes(), Device{}), result(variable.bytes(), Device{});
  receive_values(stream, variable, values);
  auto* sum = static_cast<std::byte*>(result.data());
  std::optional<AppliedUpdates::Applying> applying(std::in_place, applied, origin);
  if (!applied.add(origin, &variable)) {
    applying.reset();
    applied.wait_until_applied(origin);  // the value has the first one in it
    std::memset(values.data(), 0, size_t(values.bytes()));
  }
  variable.add(static_cast<const std::byte*>(values.data()), sum);
  stream.answer({}, {sum, size_t(variable.bytes())});
}

DISTRIBUTE_INLINE void fill(LinkStream& stream, StoredVariable& variable, double number) {
  variable.fill(number);
  stream.answer();
}

DISTRIBUTE_INLINE void read_rows(LinkStream& stream, StoredVariable& variable,
                                 const RowsRequest& request) {
  if (request.begin < 0 || request.rows < 0 || request.begin > variable.rows() ||
      request.rows > variable.rows() - request.begin)
    throw InvalidArgumentError(
        str_cat("read_rows: variable '", variable.key(), "' has ", variable.rows(), " rows only"));
  const int64_t begin = request.begin * variable.row_bytes();
  const int64_t bytes = request.rows * variable.row_bytes();
  std::vector<std::byte> piece(size_t(std::min(kPieceBytes, bytes)));
  stream.send_head({}, uint64_t(bytes));
  for (int64_t done = 0; done < bytes; done += kPieceBytes) {
    const auto part = std::span(piece).first(size_t(std::min(kPieceBytes, bytes - done)));
    variable.read(begin + done, part);
    stream.send(part);
  }
}

DISTRIBUTE_INLINE void write_rows(LinkStream& stream, StoredVariable& variable,
                                  const RowsRequest& request) {
  int64_t at = std::clamp<int64_t>(request.begin, 0, variable.rows()) * variable.row_bytes();
  if (request.begin < 0 || request.begin > variable.rows() ||
      stream.unread() > uint64_t(variable.bytes() - at))
    throw InvalidArgumentError(str_cat("assign_rows: variable '", variable.key(), "' has ",
                                       variable.rows(), " rows only"));
  std::vector<std::byte> piece(size_t(std::min(kPieceBytes, int64_t(stream.unread()))));
  while (stream.unread() > 0) {
    const auto part = std::span(piece).first(std::min(piece.size(), size_t(stream.unread())));
    stream.receive(part);
    variable.write(at, part);
    at += int64_t(part.size());
  }
  stream.answer();
}

DISTRIBUTE_INLINE void gather(LinkStream& stream, StoredVariable& variable,
                              const RowsRequest& request) {
  const int64_t count = request.rows;
  if (count < 0 || uint64_t(count) != stream.unread() / sizeof(int64_t) ||
      stream.unread() % sizeof(int64_t) != 0)
    throw InvalidArgumentError("gather: number of rows and bytes do not fit");
  std::vector<int64_t> rows(static_cast<size_t>(count));
  stream.receive(std::as_writable_bytes(std::span(rows)));
  const Buffer values(count * variable.row_bytes(), Device{});
  auto* data = static_cast<std::byte*>(values.data());
  variable.gather(rows, data);
  stream.answer({}, {data, size_t(values.bytes())});
}

}  // namespace distribute::parameter_server
