#include <distribute/data/files.hpp>

#include <distribute/data/distribute_options.hpp>

#include <tests/data/dataset_support.hpp>
#include <tests/data/picture_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;
using namespace distribute::data;

TEST_CASE("a list of files gives their numbers, and shares keep them", "[data][files]") {
  const Dataset all(file_list_source({"a", "b", "c", "b", "e"}));
  CHECK(scalars_of(all) == count_up(0, 5));
  CHECK(all.cardinality() == 5);
  const auto share = [&](int64_t worker) {
    return scalars_of(Dataset(auto_shard(all.node(), 2, worker, AutoShardPolicy::Auto)));
  };
  CHECK(share(0) == Numbers{0, 2, 4});
  CHECK(share(1) == Numbers{1, 3});
  const Dataset shuffled = all.shuffle(5, {.seed = 3}).batch(2);
  CHECK(elements_of(Dataset(auto_shard(shuffled.node(), 2, 1, AutoShardPolicy::File))).size() == 1);
  CHECK_THROWS_AS(file_list_source({}), InvalidArgumentError);
}

TEST_CASE("patterns match file names, sorted", "[data][files]") {
  const TemporaryDirectory root;
  for (const char* name : {"train-1-of-2", "train-0-of-2", "test-0-of-1", ".train-9-of-2"})
    write_bytes(root / name, "");
  CHECK(match_files(root / "train-*-of-*") ==
        std::vector<std::string>{root / "train-0-of-2", root / "train-1-of-2"});
  CHECK_THROWS_SAYING(match_files(root / "eval-*"), NotFoundError, "eval-*");
  CHECK_THROWS_AS(match_files("/nonexistent/*"), NotFoundError);
}

TEST_CASE("a pattern does not pass over a missing shard", "[data][files]") {
  const TemporaryDirectory root;
  for (const char* name : {"train-00000-of-00004", "train-00002-of-00004", "train-00003-of-00004",
                           "test-00000-of-00001", "a-0-of-2.gz", "a-1-of-2.gz", "b-0-of-x"})
    write_bytes(root / name, "");
  for (const char* pattern : {"train-*-of-*", "train-*", "*", "train-0000?-of-00004"})
    CHECK_THROWS_SAYING(match_files(root / pattern), NotFoundError,
                        "train-00001-of-00004 is missing, one of 4 files");
  CHECK(match_files(root / "train-0000[023]-of-*").size() == 3);
  CHECK(match_files(root / "test-*").size() == 1);
  CHECK(match_files(root / "a-*").size() == 2);
  CHECK(match_files(root / "b-*").size() == 1);
}
