// Against webdataset 1.0.2: answers.py.
#include <distribute/datasets/tables.hpp>

#include <distribute/data/distribute_options.hpp>
#include <distribute/datasets/detail/archive_reader.hpp>
#include <distribute/io/file_system.hpp>

#include <tests/data/dataset_support.hpp>
#include <tests/data/write_file.hpp>
#include <tests/datasets/dataset_answers.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;
using namespace distribute::data;

namespace {

const std::vector<std::string> kFields = {"__key__", "jpg;jpeg", "cls"};

nlohmann::json samples_of(const Dataset& dataset) {
  auto samples = nlohmann::json::array();
  for (const Batch& sample : dataset) samples.push_back(plain(sample));
  return samples;
}

}  // namespace

TEST_CASE("samples of archives are webdataset's", "[datasets][web_dataset]") {
  if (!data_internal::has_libarchive()) {
    CHECK_THROWS_SAYING(samples_of(web_dataset({fixture("samples.tar")}, kFields)),
                        UnimplementedError, "libarchive-dev");
    return;
  }
  for (const char* name : {"samples.tar", "samples.tar.gz"}) {
    const Dataset samples = web_dataset({fixture(name)}, kFields);
    const auto wanted = answer(name);
    CHECK(samples_of(samples) == wanted);
    CHECK(to_string(samples.element_spec()) ==
          "(__key__: [-1] uint8, jpg: [-1] uint8, cls: [] int64)");
    for (size_t at = 0; at <= wanted.size(); ++at) {
      Iterator it = samples.iterator();
      for (size_t i = 0; i < at; ++i) it.next();
      Iterator later = samples.iterator();
      later.restore(it.state());
      for (size_t i = at; i < wanted.size(); ++i) CHECK(plain(later.next()) == wanted[i]);
      CHECK_FALSE(later.get_next_as_optional());
    }
    CHECK(samples_of(samples.skip(2)) == nlohmann::json(wanted.begin() + 2, wanted.end()));
  }
  const auto raw = web_dataset({fixture("samples.tar")}, {"cls"}, {.decode = false});
  CHECK(samples_of(raw) == nlohmann::json({{"3\n"}, {"-4"}, {"5"}, {"7"}}));
}

TEST_CASE("archives are read in turn and shared by workers", "[datasets][web_dataset]") {
  if (!data_internal::has_libarchive()) return;
  const std::vector<std::string> paths = {fixture("samples.tar"), fixture("samples.tar.gz")};
  const Dataset labels = web_dataset(paths, {"cls"});
  CHECK(scalars_of(labels) == Numbers{3, -4, 5, 7, 3, -4, 5, 7});
  CHECK(scalars_of(web_dataset(paths, {"cls"}, {.num_parallel_reads = 2})) ==
        Numbers{3, 3, -4, -4, 5, 5, 7, 7});
  const Dataset second(auto_shard(labels.node(), 2, 1, AutoShardPolicy::Auto));
  CHECK(scalars_of(second) == Numbers{3, -4, 5, 7});
}

TEST_CASE("bad samples and archives are named", "[datasets][web_dataset]") {
  CHECK_THROWS_AS(web_dataset({}, kFields), InvalidArgumentError);
  CHECK_THROWS_AS(web_dataset({"x.tar"}, {}), InvalidArgumentError);
  CHECK_THROWS_AS(web_dataset({"x.tar"}, {"jpg;"}), InvalidArgumentError);
  if (!data_internal::has_libarchive()) return;
  Iterator it = web_dataset({fixture("bad.tar")}, kFields).iterator();
  CHECK(plain(it.next()) == nlohmann::json({"a", "x", 1}));
  CHECK_THROWS_SAYING(it.next(), InvalidArgumentError,
                      "bad.tar: sample \"b\" has no file .cls; it has jpg");
  CHECK_THROWS_SAYING(it.next(), InvalidArgumentError, "bad.tar: c.cls: not a whole number: \"z\"");
  CHECK_FALSE(it.get_next_as_optional());
  CHECK_THROWS_AS(samples_of(web_dataset({fixture("none.tar")}, kFields)), NotFoundError);

  const TemporaryDirectory root;
  const std::string whole = *io::read_file(fixture("samples.tar"));
  CHECK_THROWS_AS(samples_of(web_dataset({write(root, "text", std::string(2000, 'x'))}, kFields)),
                  DataLossError);
  CHECK_THROWS_SAYING(samples_of(web_dataset({write(root, "cut", whole.substr(0, 1600))}, kFields)),
                      DataLossError, "cut: not a whole tar archive");
  CHECK(samples_of(web_dataset({write(root, "empty", "")}, kFields)).empty());
}
