// Against TensorFlow 2.21: answers.py.
#include <distribute/datasets/tables.hpp>

#include <distribute/data/distribute_options.hpp>
#include <distribute/datasets/detail/sql_rows.hpp>

#include <tests/data/dataset_cases.hpp>
#include <tests/datasets/dataset_answers.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using namespace distribute::data;

namespace {

DType type_named(const std::string& name) {
  if (name == "int32") return DType::Int32;
  if (name == "int64") return DType::Int64;
  if (name == "double") return DType::Float32;
  return name == "bool" ? DType::Bool : DType::UInt8;
}

Dataset query(const std::string& name) {
  const auto wanted = answer("sql " + name);
  std::vector<DType> types;
  for (const auto& type : wanted["types"]) types.push_back(type_named(type.get<std::string>()));
  return sql_dataset("sqlite", fixture("people.db"), wanted["query"].get<std::string>(), types);
}

nlohmann::json rows_of(const Dataset& dataset) {
  auto rows = nlohmann::json::array();
  for (const Batch& row : dataset) rows.push_back(plain(row));
  return rows;
}

}  // namespace

TEST_CASE("rows of a database are TensorFlow's", "[datasets][sql_dataset]") {
  if (!data_internal::has_sqlite()) {
    CHECK_THROWS_SAYING(rows_of(query("all")), UnimplementedError, "libsqlite3-dev");
    return;
  }
  for (const char* name : {"all", "some", "blobs", "numbers as text", "flags", "none"}) {
    INFO(name);
    CHECK(rows_of(query(name)) == answer(str_cat("sql ", name))["rows"]);
    if (std::string(name) != "flags") CHECK(keeps_the_contract(query(name)));
  }
  CHECK(to_string(query("all").element_spec()) == "([] int64, [] float32, [-1] uint8)");
  const Dataset second(auto_shard(query("all").node(), 2, 1, AutoShardPolicy::Auto));
  CHECK(rows_of(second) == nlohmann::json::array({{2, 0.0, ""}}));
}

TEST_CASE("what a database cannot give is an error", "[datasets][sql_dataset]") {
  CHECK_THROWS_AS(sql_dataset("mysql", "x", "select 1", {DType::Int32}), InvalidArgumentError);
  CHECK_THROWS_AS(sql_dataset("sqlite", "x", "select 1", {}), InvalidArgumentError);
  CHECK_THROWS_AS(sql_dataset("sqlite", "x", "select 1", {DType::Float16}), InvalidArgumentError);
  if (!data_internal::has_sqlite()) return;
  CHECK_THROWS_SAYING(rows_of(query("two columns")), InvalidArgumentError,
                      "the query has 2 columns, output_types 1");
  CHECK_THROWS_SAYING(rows_of(query("wrong")), UnknownError, "near \"selec\": syntax error");
  CHECK_THROWS_AS(rows_of(sql_dataset("sqlite", fixture("none.db"), "select 1", {DType::Int32})),
                  NotFoundError);
  // TensorFlow gives -1294967296 and 0.
  CHECK_THROWS_SAYING(
      rows_of(query("narrow")), InvalidArgumentError,
      "row 3, column 0 (counted from 0, \"id\"): not a valid int32: \"3000000000\"");
  CHECK_THROWS_SAYING(rows_of(query("text as a number")), InvalidArgumentError,
                      "row 1, column 0 (counted from 0, \"name\"): not a valid int32: \"ann\"");
}
