// Against TensorFlow 2.21: tests/comparison/dataset_cases.py.
#include <distribute/data/files.hpp>

#include <distribute/data/distribute_options.hpp>

#include <tests/data/dataset_cases.hpp>
#include <tests/data/write_file.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;
using namespace distribute::data;

TEST_CASE("records of a fixed length are TensorFlow's", "[data][fixed_length]") {
  const TemporaryDirectory root;
  for (const char* name : {"plain", "rest", "empty", "header and footer", "rest between them",
                           "no header", "compressed", "compressed rest"}) {
    INFO(name);
    const auto wanted = tensorflow_case(str_cat("fixed ", name));
    FixedLengthRecordOptions options;
    options.header_bytes = wanted["options"].value("header_bytes", 0);
    options.footer_bytes = wanted["options"].value("footer_bytes", 0);
    if (wanted["options"].contains("compression_type"))
      options.compression_type = io::Compression::Gzip;
    const std::string path =
        write(root, "t", wanted["content"].get<std::string>(), options.compression_type);
    const Dataset records = fixed_length_record_dataset({path}, 5, options);
    // TensorFlow gives the error of a file that does not fit at every further call.
    auto elements = wanted["elements"];
    while (elements.size() > 1 && elements.back().is_object() &&
           elements[elements.size() - 2].is_object())
      elements.erase(elements.size() - 1);
    CHECK(case_of(records)["elements"] == elements);
    if (elements.empty() || !elements.back().is_object()) CHECK(keeps_the_contract(records));
  }
}

TEST_CASE("fixed records of several files, in turn and shared by workers", "[data][fixed_length]") {
  const TemporaryDirectory root;
  const std::vector<std::string> paths = {write(root, "1", "abcdeABCDE"),
                                          write(root, "2", "fghij")};
  const Dataset records = fixed_length_record_dataset(paths, 5);
  CHECK(elements_as_json(records) == nlohmann::json({"abcde", "ABCDE", "fghij"}));
  CHECK(elements_as_json(fixed_length_record_dataset(paths, 5, {.num_parallel_reads = 2})) ==
        nlohmann::json({"abcde", "fghij", "ABCDE"}));
  const Dataset second(auto_shard(records.node(), 2, 1, AutoShardPolicy::Auto));
  CHECK(elements_as_json(second) == nlohmann::json({"fghij"}));
  CHECK(to_string(records.element_spec()) == "([5] uint8)");
  CHECK_THROWS_SAYING(elements_as_json(fixed_length_record_dataset(paths, 4)), InvalidArgumentError,
                      "its body of 10 bytes is not a multiple of");
  CHECK_THROWS_AS(fixed_length_record_dataset(paths, 0), InvalidArgumentError);
  CHECK_THROWS_AS(fixed_length_record_dataset({}, 5), InvalidArgumentError);
}
