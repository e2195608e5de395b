#include <distribute/data/distribute_options.hpp>
#include <distribute/data/files.hpp>

#include <tests/data/dataset_support.hpp>
#include <tests/data/picture_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;
using namespace distribute::data;

namespace {

/// Of three files with these contents, in a directory of their own.
std::string summary_of_files(const std::vector<std::string>& contents) {
  const TemporaryDirectory root;
  std::vector<std::string> paths;
  for (size_t i = 0; i < contents.size(); ++i) {
    paths.push_back(root / ("part-" + std::to_string(i)));
    write_bytes(paths.back(), contents[i]);
  }
  return data_summary(*Dataset(file_list_source(paths)).shuffle(3).node());
}

std::string summary_of(const std::vector<float>& values) {
  const Tensor rows({int64_t(values.size())}, values);
  return data_summary(*Dataset::from_tensor_slices(rows).shuffle(10).repeat().batch(2).node());
}

}  // namespace

TEST_CASE("data of workers is compared by values, names and sizes", "[data]") {
  CHECK(summary_of({1, 2, 3}) == summary_of({1, 2, 3}));
  CHECK_NOTHROW(check_same_data({summary_of({1, 2, 3}), summary_of({1, 2, 3})}));
  CHECK_THROWS_SAYING(check_same_data({summary_of({1, 2}), summary_of({1, 2}), summary_of({1})}),
                      FailedPreconditionError, "worker 2 has 1 rows");
  CHECK_THROWS_SAYING(check_same_data({summary_of({1, 2}), summary_of({1, 4})}),
                      FailedPreconditionError, "worker 0 has 2 rows");
}

TEST_CASE("files of workers are compared where they lie", "[data]") {
  const std::string large(10'000, 'x');
  CHECK(summary_of_files({"a", "", large}) == summary_of_files({"a", "", large}));
  CHECK_THROWS_SAYING(
      check_same_data({summary_of_files({"a", "b", "c"}), summary_of_files({"a", "B", "c"})}),
      FailedPreconditionError, "worker 0 has file part-1 (1 bytes, checksum ");
  CHECK_THROWS_SAYING(check_same_data({summary_of_files({"a"}), summary_of_files({"a", "b"})}),
                      FailedPreconditionError, "worker 0 has 1 file, worker 1 has 2 files");
  std::string changed = large;
  changed.back() = 'y';
  CHECK(summary_of_files({large}) != summary_of_files({changed}));
  CHECK(data_summary(*Dataset(file_list_source({"gs://b/one", "gs://b/two"})).node()) ==
        "2 files\nfile one\nfile two\n");
}
