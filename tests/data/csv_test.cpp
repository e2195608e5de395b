// Against TensorFlow 2.21: tests/comparison/dataset_cases.py.
#include <distribute/data/csv.hpp>

#include <distribute/data/distribute_options.hpp>

#include <tests/data/dataset_cases.hpp>
#include <tests/data/write_file.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>

#include <limits>

using namespace distribute;
using namespace distribute::data;

namespace {

CsvDefault default_of(const nlohmann::json& wanted) {
  if (wanted == "string") return CsvType::Bytes;
  if (wanted == "int32") return CsvType::Int32;
  if (wanted == "int64") return CsvType::Int64;
  if (wanted == "float32") return CsvType::Float32;
  if (wanted[0].is_string()) return wanted[0].get<std::string>();
  return wanted[0].get<int32_t>();
}

CsvOptions options_of(const nlohmann::json& wanted) {
  CsvOptions options;
  options.header = wanted.value("header", false);
  options.field_delim = wanted.value("field_delim", std::string(","))[0];
  options.use_quote_delim = wanted.value("use_quote_delim", true);
  options.na_value = wanted.value("na_value", std::string());
  options.select_cols = wanted.value("select_cols", std::vector<int64_t>());
  return options;
}

MakeCsvOptions make_options_of(const nlohmann::json& wanted) {
  MakeCsvOptions options{.shuffle = false};
  options.column_names = wanted.value("column_names", std::vector<std::string>());
  options.label_name = wanted.value("label_name", std::string());
  for (const auto& column : wanted.value("select_columns", nlohmann::json::array()))
    if (column.is_string())
      options.select_columns.push_back(column.get<std::string>());
    else
      options.select_columns.push_back(column.get<int64_t>());
  options.field_delim = wanted.value("field_delim", std::string(","))[0];
  options.na_value = wanted.value("na_value", std::string());
  options.header = wanted.value("header", true);
  options.num_epochs = 1;
  if (wanted.contains("num_epochs")) {
    options.num_epochs.reset();
    if (!wanted["num_epochs"].is_null()) options.num_epochs = wanted["num_epochs"].get<int64_t>();
  }
  options.num_parallel_reads = wanted.value("num_parallel_reads", int64_t{1});
  options.num_rows_for_inference = wanted.value("num_rows_for_inference", int64_t{100});
  options.ignore_errors = wanted.value("ignore_errors", false);
  return options;
}

/// A column of a batch in the form of dataset_cases.py, whose strings are not filled up.
nlohmann::json column_as_json(const Tensor& column) {
  if (column.dtype() != DType::UInt8) return as_json(column);
  auto result = nlohmann::json::array();
  for (int64_t i = 0; i < column.shape()[0]; ++i) {
    const Tensor row = column.rows(i, i + 1).view(Shape{column.shape()[1]});
    const std::string_view text = bytes_of(row);
    result.push_back(std::string(text.substr(0, text.find('\0'))));
  }
  return result;
}

nlohmann::json batch_as_json(const Batch& batch, const std::string& label) {
  auto features = nlohmann::json::object();
  for (size_t i = 0; i < batch.size(); ++i)
    if ((*batch.names)[i] != label) features[(*batch.names)[i]] = column_as_json(batch[i]);
  if (label.empty()) return features;
  return {features, column_as_json(batch[label])};
}

/// Floats that are not finite are texts in the cases.
nlohmann::json finite(nlohmann::json value) {
  if (value.is_structured())
    for (auto& one : value) one = finite(one);
  else if (value.is_number_float() && std::isnan(value.get<double>()))
    return "nan";
  else if (value.is_number_float() && std::isinf(value.get<double>()))
    return value.get<double>() > 0 ? "inf" : "-inf";
  return value;
}

}  // namespace

TEST_CASE("records of CSV files are TensorFlow's", "[data][csv]") {
  const TemporaryDirectory root;
  for (const char* name : {"plain",
                           "no last newline",
                           "crlf",
                           "cr",
                           "types",
                           "defaults",
                           "required",
                           "quotes",
                           "crlf in quotes",
                           "quote in a field",
                           "unclosed",
                           "quotes are text",
                           "few",
                           "many",
                           "bad int32",
                           "bad float",
                           "bad int64",
                           "int32 overflow",
                           "spaces and plus",
                           "not finite",
                           "hex float",
                           "blank line",
                           "blank line of one",
                           "header",
                           "header in quotes",
                           "no header",
                           "empty",
                           "tab",
                           "na",
                           "na in quotes",
                           "select",
                           "select what is missing",
                           "select out of order",
                           "select twice",
                           "select too few",
                           "select of unequal rows",
                           "empty last field",
                           "nul"}) {
    const auto wanted = tensorflow_case(str_cat("csv ", name));
    INFO(name);
    const std::string path = write(root, "t.csv", wanted["text"].get<std::string>());
    std::vector<CsvDefault> columns;
    for (const auto& column : wanted["defaults"]) columns.push_back(default_of(column));
    auto elements = wanted.value("elements", nlohmann::json::array());
    for (auto& element : elements)  // a record of one column is a tuple there
      if (columns.size() == 1 && element.is_array()) element = nlohmann::json(element[0]);
    CsvOptions options = options_of(wanted["options"]);
    if (wanted.contains("error")) {
      CHECK_THROWS_AS(csv_dataset({path}, columns, options), InvalidArgumentError);
      continue;
    }
    for (const int64_t buffer_size : {1, 3, 1 << 16}) {
      options.buffer_size = buffer_size;
      const Dataset records = csv_dataset({path}, columns, options);
      CHECK(finite(case_of(records)) ==
            nlohmann::json{{"elements", elements}, {"cardinality", -2}});
      const auto has_error = [](const auto& element) {
        return element.is_object() && element.contains("error");
      };
      if (std::none_of(wanted["elements"].begin(), wanted["elements"].end(), has_error) &&
          std::string(name) != "not finite")
        CHECK(keeps_the_contract(records));
    }
  }
}

TEST_CASE("errors of CSV records say where they are", "[data][csv]") {
  const TemporaryDirectory root;
  const auto error_of = [&](std::string_view text, std::vector<CsvDefault> columns,
                            const CsvOptions& options = {}) -> std::string {
    Iterator it = csv_dataset({write(root, "t.csv", text)}, columns, options).iterator();
    for (int i = 0; i < 9; ++i) {
      try {
        it.next();
      } catch (const InvalidArgumentError& error) {
        return std::string(error.what()).substr(root.path().size() + 1);
      }
    }
    return "no error";
  };
  const std::vector<CsvDefault> kTwo = {CsvType::Int32, CsvType::Int32};
  CHECK(error_of("1,2\n\"3\",4\n5,x\n", kTwo) ==
        "t.csv: line 3, column 1 (counted from 0): not a valid int32: \"x\"");
  CHECK(error_of("1,2\n3\n", kTwo) == "t.csv: line 2: the record has 1 fields, 2 are expected");
  CHECK(error_of("a,b\n,2\n", kTwo, {.header = true}) ==
        "t.csv: line 2, column 0 (counted from 0): the field is required but empty");
  CHECK(error_of("\"a\nb\",1\n\"c\",x\n", {CsvType::Bytes, CsvType::Int32}) ==
        "t.csv: line 3, column 1 (counted from 0): not a valid int32: \"x\"");
  CHECK(error_of("1,2,3\n4,5,y\n", kTwo, {.select_cols = {0, 2}}) ==
        "t.csv: line 2, column 2 (counted from 0): not a valid int32: \"y\"");
  CHECK(error_of("1,a\"b\n", kTwo) ==
        "t.csv: line 1, column 1 (counted from 0): a field without quotes around it cannot have "
        "quotes inside");
  CHECK(error_of("1,\"ab\n", kTwo) ==
        "t.csv: line 1, column 1 (counted from 0): the file ends within quotes");
  CHECK(error_of("", kTwo, {.header = true}) == "t.csv: the file is empty; a header was expected");
}

TEST_CASE("a quote after quotes spoils its own line", "[data][csv]") {
  // TensorFlow takes all of the file for this record.
  const TemporaryDirectory root;
  const std::string path = write(root, "t.csv", "\"a\"b,1\nc,2\n");
  const auto found = case_of(csv_dataset({path}, {CsvType::Bytes, CsvType::Int32}));
  CHECK(found["elements"] ==
        nlohmann::json::array({{{"error", "InvalidArgumentError"}}, {"c", 2}}));
  // A byte order mark, which TensorFlow takes for a part of the first field.
  const std::string marked = write(root, "bom.csv",
                                   "\xEF\xBB\xBF"
                                   "1,2\n");
  CHECK(case_of(csv_dataset({marked}, {CsvType::Int32, CsvType::Int32}))["elements"] ==
        nlohmann::json::array({{1, 2}}));
  CHECK(tensorflow_case("csv byte order mark")["elements"][0].contains("error"));
}

TEST_CASE("CSV files are compressed, several, and shared by workers", "[data][csv]") {
  const TemporaryDirectory root;
  const std::vector<CsvDefault> kTwo = {CsvType::Int32, CsvType::Int32};
  const std::vector<std::string> paths = {write(root, "1.csv", "h,i\n1,2\n3,4\n"),
                                          write(root, "2.csv", "h,i\n5,6\n")};
  const Dataset both = csv_dataset(paths, kTwo, {.header = true});
  CHECK(elements_as_json(both) == nlohmann::json({{1, 2}, {3, 4}, {5, 6}}));
  CHECK(keeps_the_contract(both));
  const Dataset second(auto_shard(both.node(), 2, 1, AutoShardPolicy::Auto));
  CHECK(elements_as_json(second) == nlohmann::json::array({{5, 6}}));
  const Dataset by_data(auto_shard(both.node(), 2, 1, AutoShardPolicy::Data));
  CHECK(elements_as_json(by_data) == nlohmann::json::array({{3, 4}}));
  for (const auto compression : {io::Compression::Gzip, io::Compression::Zlib}) {
    const std::string packed = write(root, "packed", "1,2\n3,4\n", compression);
    const Dataset records = csv_dataset({packed}, kTwo, {.compression_type = compression});
    CHECK(elements_as_json(records) == nlohmann::json({{1, 2}, {3, 4}}));
    CHECK(keeps_the_contract(records));
  }
  CHECK(elements_as_json(
            csv_dataset({paths[0]}, {CsvType::Int32}, {.header = true, .exclude_cols = {0}})) ==
        nlohmann::json({2, 4}));
  CHECK_THROWS_AS(elements_as_json(csv_dataset({root.path() + "/none"}, kTwo)), NotFoundError);
  CHECK_THROWS_AS(csv_dataset({}, kTwo), InvalidArgumentError);
  CHECK_THROWS_AS(csv_dataset(paths, {}), InvalidArgumentError);
  CHECK_THROWS_AS(csv_dataset(paths, kTwo, {.field_delim = '"'}), InvalidArgumentError);
}

TEST_CASE("batches of named columns are TensorFlow's", "[data][csv]") {
  for (const char* name : {"inferred",
                           "label",
                           "two files",
                           "columns by name",
                           "columns by number",
                           "names",
                           "other names",
                           "no names",
                           "no such label",
                           "label not selected",
                           "other header",
                           "equal names",
                           "no such column",
                           "int64 and text",
                           "one row inferred",
                           "mixed",
                           "two epochs",
                           "without end",
                           "na",
                           "semicolon",
                           "quoted header",
                           "in turn",
                           "header alone",
                           "errors ignored",
                           "errors",
                           "infinity is text",
                           "spaces"}) {
    const auto wanted = tensorflow_case(str_cat("make_csv ", name));
    INFO(name);
    const TemporaryDirectory root;
    int number = 0;
    for (const auto& text : wanted["texts"])
      write(root, str_cat(number++, ".csv"), text.get<std::string>());
    const MakeCsvOptions options = make_options_of(wanted["options"]);
    const int64_t batch_size = wanted["options"]["batch_size"].get<int64_t>();
    const std::string pattern = root.path() + "/*.csv";
    if (wanted.contains("error")) {
      CHECK_THROWS_AS(make_csv_dataset(pattern, batch_size, options), InvalidArgumentError);
      continue;
    }
    const Dataset batches = make_csv_dataset(pattern, batch_size, options);
    auto found = nlohmann::json::array();
    Iterator it = batches.iterator();
    while (found.size() < 4) {
      try {
        const auto batch = it.get_next_as_optional();
        if (!batch) break;
        found.push_back(batch_as_json(*batch, options.label_name));
      } catch (const Error& error) {
        found.push_back({{"error", error_name(error)}});
      }
    }
    CHECK(found == wanted["elements"]);
    CHECK(batches.cardinality() == wanted["cardinality"].get<int64_t>());
  }
}

TEST_CASE("batches of CSV columns are shuffled, and go on from a saved position", "[data][csv]") {
  const TemporaryDirectory root;
  std::string text = "n,name\n";
  for (int i = 0; i < 40; ++i) text += str_cat(i, ",row", i, "\n");
  const std::string path = write(root, "a.csv", text);
  const Dataset batches =
      make_csv_dataset({path}, 7, {.label_name = "n", .num_epochs = 1, .shuffle_seed = 3});
  CHECK(to_string(batches.element_spec()) == "(name: [-1, -1] uint8, n: [-1] int32)");
  std::vector<int32_t> order;
  for (const Batch& batch : batches)
    for (const int32_t n : batch["n"].data<int32_t>()) order.push_back(n);
  CHECK(!std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  CHECK(order.size() == 40);
  CHECK(std::adjacent_find(order.begin(), order.end()) == order.end());
  CHECK(resumes_everywhere(make_csv_dataset({path}, 7, {.num_epochs = 2, .shuffle = false})));
  CHECK_THROWS_SAYING(
      elements_as_json(make_csv_dataset(
          {path}, 7, {.column_defaults = {CsvType::Int32, CsvType::Int32}, .shuffle = false})),
      InvalidArgumentError, "a.csv: line 2, column 1 \"name\" (counted from 0): not a valid int32");
}
