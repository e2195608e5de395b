// Rows of Parquet and Arrow files, against pyarrow 26: answers.py.
#include <distribute/datasets/tables.hpp>

#include <distribute/data/distribute_options.hpp>
#include <distribute/datasets/detail/table_file.hpp>

#include <tests/data/dataset_cases.hpp>
#include <tests/datasets/dataset_answers.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>

#include <fstream>

#define SKIP_WITHOUT_ARROW() \
  if (!data_internal::has_arrow()) SKIP("this build has no Arrow")

using namespace distribute;
using namespace distribute::data;
using Catch::Matchers::Contains;
using data_internal::has_arrow;

namespace {

using OpenFunction = Dataset (*)(std::vector<std::string>, const TableOptions&);

struct Format {
  std::string name;
  OpenFunction open;
};

const std::vector<Format> kFormats = {{"table.parquet", parquet_dataset},
                                      {"table.feather", arrow_dataset},
                                      {"table.arrows", arrow_dataset}};

/// A number, a list of numbers, or bytes.
nlohmann::json plain_value(const Tensor& value) {
  if (value.shape().rank() == 0 || value.dtype() == DType::UInt8) return plain(value);
  auto list = nlohmann::json::array();
  for (int64_t i = 0; i < value.num_elements(); ++i) list.push_back(plain(value[i]));
  return list;
}

nlohmann::json rows_of(const Dataset& dataset) {
  auto rows = nlohmann::json::array();
  for (const Batch& row : dataset) {
    auto values = nlohmann::json::array();
    for (size_t i = 0; i < row.size(); ++i) values.push_back(plain_value(row[i]));
    rows.push_back(values);
  }
  return rows;
}

Dataset odd(std::vector<std::string> columns, bool nulls_are_zero = false) {
  return parquet_dataset({fixture("odd.parquet")},
                         {.columns = std::move(columns), .nulls_are_zero = nulls_are_zero});
}

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a build without Arrow says what to install", "[datasets][tables]") {
  if (has_arrow()) return;
  CHECK_THROWS_SAYING(parquet_dataset({fixture("table.parquet")}), UnimplementedError,
                      "this build reads no Parquet and Arrow files; install");
}

TEST_CASE("rows of Parquet and Arrow files are pyarrow's", "[datasets][tables]") {
  SKIP_WITHOUT_ARROW();
  for (const Format& format : kFormats) {
    INFO(format.name);
    const Dataset rows = format.open({fixture(format.name)}, {});
    CHECK(rows_of(rows) == answer(format.name));
    CHECK(keeps_the_contract(rows));
    CHECK(nlohmann::json(*rows.iterator().get_next().names) == answer("table columns"));
    const Dataset both = format.open({fixture(format.name), fixture(format.name)}, {});
    CHECK(rows_of(both).size() == 14);
    const Dataset second(auto_shard(both.node(), 2, 1, AutoShardPolicy::Auto));
    CHECK(rows_of(second) == answer(format.name));
  }
  CHECK(rows_of(parquet_dataset({fixture("no_rows.parquet")})).empty());
}

TEST_CASE("columns are read in the order that is asked for", "[datasets][tables]") {
  SKIP_WITHOUT_ARROW();
  for (const Format& format : kFormats) {
    INFO(format.name);
    const Dataset some =
        format.open({fixture(format.name)}, {.columns = {"fixed_list", "string", "uint32"}});
    CHECK(to_string(some.element_spec()) ==
          "(fixed_list: [2] int32, string: [-1] uint8, uint32: [] int64)");
    const auto rows = rows_of(some);
    REQUIRE(rows.size() == 7);
    CHECK(rows[2] == nlohmann::json::array({{2, -2}, "bc", 5}));
    CHECK(keeps_the_contract(some));
  }
}

TEST_CASE("missing values are errors, or zero where that is asked for", "[datasets][tables]") {
  SKIP_WITHOUT_ARROW();
  CHECK_THROWS_SAYING(rows_of(odd({"text", "number"})), InvalidArgumentError,
                      "odd.parquet: row 1 (counted from 0), column \"text\": the value is missing; "
                      "fill it in the file, or set nulls_are_zero");
  CHECK_THROWS_SAYING(rows_of(odd({"list"})), InvalidArgumentError, "row 1 (counted from 0)");
  CHECK(rows_of(odd({"number", "text", "list"}, true)) ==
        nlohmann::json::parse(R"([[1, "x", [1]], [0, "", [0, 2]], [3, "z", []]])"));
  // The row after a bad one is read, also by a stream that starts anew behind it.
  Iterator rows = odd({"number"}).iterator();
  CHECK(rows.get_next().x.item<int32_t>() == 1);
  CHECK_THROWS_AS(rows.get_next(), InvalidArgumentError);
  Iterator later = odd({"number"}).iterator();
  later.restore(rows.state());
  CHECK(rows.get_next().x.item<int32_t>() == 3);
  CHECK(later.get_next().x.item<int32_t>() == 3);
}

TEST_CASE("what a table cannot give is an error", "[datasets][tables]") {
  CHECK_THROWS_SAYING(parquet_dataset({}), InvalidArgumentError,
                      "parquet_dataset: there are no files");
  CHECK_THROWS_SAYING(arrow_dataset({}), InvalidArgumentError, "arrow_dataset: there are no files");
  SKIP_WITHOUT_ARROW();
  CHECK_THROWS_SAYING(odd({"age"}), InvalidArgumentError,
                      "odd.parquet: there is no column \"age\"; the file has 7 columns: number, "
                      "text, list, wide, unsigned, struct, words");
  CHECK_THROWS_SAYING(odd({"text", "text"}), InvalidArgumentError, "`columns` has \"text\" twice");
  for (const char* column : {"struct", "words"})
    CHECK_THROWS_SAYING(odd({column}), InvalidArgumentError,
                        str_cat("column \"", column, "\" is of type "));
  CHECK_THROWS_SAYING(rows_of(odd({"wide"})), InvalidArgumentError,
                      "row 1 (counted from 0), column \"wide\": 1e+300 does not fit into float32");
  CHECK_THROWS_SAYING(rows_of(odd({"unsigned"})), InvalidArgumentError,
                      "9223372036854775808 does not fit into int64");
  CHECK_THROWS_AS(parquet_dataset({"/no/such/file"}), NotFoundError);
  CHECK_THROWS_SAYING(
      rows_of(parquet_dataset({fixture("odd.parquet"), fixture("longer.parquet")},
                              {.columns = {"number"}, .nulls_are_zero = true})),
      InvalidArgumentError,
      "longer.parquet: has the columns (number: [] int64), the first file has (number: [] int32)");
}

TEST_CASE("damaged tables end in an error that names the file", "[datasets][tables]") {
  SKIP_WITHOUT_ARROW();
  const TemporaryDirectory folder;
  for (const Format& format : kFormats) {
    INFO(format.name);
    const std::string whole = bytes_of_file(fixture(format.name)), path = folder / format.name;
    int refused = 0;
    for (size_t part = 0; part < 40; ++part) {
      std::string bytes = whole.substr(0, part < 20 ? whole.size() * part / 20 : whole.size());
      if (part >= 20) bytes[whole.size() * (part - 20) / 20 + 3] ^= 0x55;
      std::ofstream(path, std::ios::binary) << bytes;
      try {
        Iterator rows = format.open({path}, {}).iterator();
        try {
          while (rows.get_next_as_optional()) continue;
        } catch (const Error&) {
          if (part < 20) CHECK(!rows.get_next_as_optional());  // a file that is cut ends there
          Iterator later = format.open({path}, {}).iterator();
          later.restore(rows.state());
          if (part < 20) CHECK(!later.get_next_as_optional());
          throw;
        }
      } catch (const Error& error) {
        ++refused;
        CHECK_THAT(error.what(), Contains(path));
      }
    }
    CHECK(refused >= 20);
  }
}
