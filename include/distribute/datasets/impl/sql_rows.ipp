#pragma once
#if DISTRIBUTE_HAS_SQLITE
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/datasets/detail/sql_rows.hpp>
#include <distribute/io/file_system.hpp>

#include <limits>

#include <sqlite3.h>

namespace distribute::data::data_internal {

DISTRIBUTE_INLINE bool has_sqlite() { return true; }

/// A database that is open for reading, and one of its queries.
class SqlRows final : public BatchStream {
 public:
  explicit SqlRows(const SqlQuery& query) : query_(query) {}
  ~SqlRows() override { close(); }
  bool next(Batch& out) override {
    if (!step()) return false;
    std::vector<Tensor> components;
    for (size_t i = 0; i < query_.types.size(); ++i) components.push_back(value(int(i)));
    out = Batch::from_components(std::move(components));
    return true;
  }
  int64_t skip(int64_t count) override {
    int64_t done = 0;
    while (done < count && step()) ++done;
    return done;
  }
  void save(StateWriter& state) const override { state.put(given_); }
  void restore(StateReader& state) override { replay(state.get()); }

 private:
  bool step() {
    if (ended_) return false;
    ended_ = true;  // unless a row comes
    if (!statement_) open();
    const int status = sqlite3_step(statement_);
    if (status != SQLITE_ROW && status != SQLITE_DONE) fail("the query failed");
    ended_ = status == SQLITE_DONE;
    given_ += !ended_;
    if (ended_) close();
    return !ended_;
  }
  /// Opens a local file; a file of another file system is read into memory.
  void open() {
    io::FileSystem* const files = value_or_throw(io::file_system_for(query_.database));
    if (!value_or_throw(files->exists(query_.database)))
      throw NotFoundError("sql_dataset: there is no database " + query_.database);
    const bool local = query_.database.find("://") == std::string::npos;
    const char* const name = local ? query_.database.c_str() : ":memory:";
    if (sqlite3_open_v2(name, &database_, local ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE,
                        nullptr) != SQLITE_OK)
      fail("the database cannot be opened");
    if (!local) read_into_memory();
    if (sqlite3_prepare_v2(database_, query_.text.c_str(), -1, &statement_, nullptr) != SQLITE_OK ||
        !statement_)
      fail("the query is wrong");
    const int count = sqlite3_column_count(statement_);
    if (count != int(query_.types.size()))
      throw InvalidArgumentError(str_cat("sql_dataset: the query has ", count,
                                         " columns, output_types ", query_.types.size()));
  }
  void read_into_memory() {
    bytes_ = value_or_throw(io::read_file(query_.database));
    if (sqlite3_deserialize(database_, "main", reinterpret_cast<unsigned char*>(bytes_.data()),
                            int64_t(bytes_.size()), int64_t(bytes_.size()),
                            SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
      fail("the database cannot be read");
  }
  [[noreturn]] void fail(const char* what) {
    const std::string problem = database_ ? sqlite3_errmsg(database_) : "no memory";
    throw UnknownError(
        str_cat("sql_dataset: ", query_.database, ": ", what, ": ", problem, ": ", query_.text));
  }
  [[noreturn]] void refuse(int column, DType type) {
    throw InvalidArgumentError(str_cat(
        "sql_dataset: ", query_.database, ": row ", given_, ", column ", column, " (counted from 0",
        ", \"", sqlite3_column_name(statement_, column), "\"): not a valid ", name_of(type), ": \"",
        reinterpret_cast<const char*>(sqlite3_column_text(statement_, column)), "\""));
  }
  Tensor value(int column) {
    const DType type = query_.types[size_t(column)];
    const int kind = sqlite3_column_type(statement_, column);
    if (type == DType::UInt8) {
      const void* const data = sqlite3_column_blob(statement_, column);
      const int size = sqlite3_column_bytes(statement_, column);
      return bytes_tensor(size > 0 ? std::string(static_cast<const char*>(data), size_t(size))
                                   : std::string());
    }
    if (kind == SQLITE_TEXT || kind == SQLITE_BLOB) refuse(column, type);
    if (type == DType::Float32) return Tensor(float(sqlite3_column_double(statement_, column)));
    if (kind == SQLITE_FLOAT) refuse(column, type);
    const int64_t number = sqlite3_column_int64(statement_, column);
    if (type == DType::Bool) return Tensor(number != 0);
    if (type == DType::Int64) return Tensor(number);
    if (number < std::numeric_limits<int32_t>::min() ||
        number > std::numeric_limits<int32_t>::max())
      refuse(column, type);
    return Tensor(int32_t(number));
  }
  void close() {
    sqlite3_finalize(statement_);
    sqlite3_close(database_);
    statement_ = nullptr;
    database_ = nullptr;
  }

  const SqlQuery& query_;
  std::string bytes_;  // of a database in memory
  sqlite3* database_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
  int64_t given_ = 0;
  bool ended_ = false;
};

DISTRIBUTE_INLINE std::unique_ptr<BatchStream> sql_rows(const SqlQuery& query) {
  return std::make_unique<SqlRows>(query);
}

}  // namespace distribute::data::data_internal
#endif
