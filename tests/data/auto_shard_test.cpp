#include <distribute/data/distribute_options.hpp>

#include <tests/data/dataset_support.hpp>
#include <tests/support/catch.hpp>

using namespace distribute;
using namespace distribute::data;

using Batches = std::vector<Numbers>;

namespace {

Dataset with_policy(const Dataset& dataset, AutoShardPolicy policy) {
  return dataset.with_options({.experimental_distribute = {.auto_shard_policy = policy}});
}

/// What worker `w` of `workers` with `replicas` replicas in all reads.
Batches share_of(const Dataset& dataset, int64_t workers, int64_t w, int64_t replicas) {
  return elements_of(Dataset(dataset_for_worker(
      dataset.node(),
      {.num_workers = workers, .worker_index = w, .num_replicas_in_sync = replicas})));
}

Dataset of_unknown_size(int64_t count, int64_t batch) {
  return Dataset::range(count).interleave(
      [=](const Batch& b) {
        const int64_t first = b.x.item<int64_t>() * batch;
        return Dataset::range(first, std::min(first + batch, count)).batch(batch);
      },
      {.cycle_length = 1});
}

/// Files "0" to "n-1" with two numbers each.
Dataset of_files(int64_t files) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < files; ++i) names.push_back(std::to_string(i));
  return Dataset::from_files(names, [](const std::string& name) {
    return Dataset::range(2 * std::stoi(name), 2 * std::stoi(name) + 2);
  });
}

}  // namespace

TEST_CASE("the batch size is that of the last batch transformation", "[data][auto_shard]") {
  const auto ten = Dataset::range(10);
  const auto size = [](const Dataset& dataset) { return compute_batch_size(*dataset.node()); };
  CHECK(size(ten.batch(4)) == 4);
  CHECK(size(ten.batch(4).shuffle(3).repeat().prefetch()) == 4);
  CHECK(size(ten.batch(2).batch(3)) == 3);
  CHECK(size(ten.batch(4).map([](const Batch& b) { return b; })) == -1);  // rows may be others
  CHECK(size(ten.batch(4, true).map([](const Batch& b) { return rows(b, 0, 3); })) == 3);
  CHECK(size(ten.batch(3).rebatch({4})) == -1);
  CHECK(size(Dataset::zip({ten.batch(4), ten.batch(4)})) == 4);
  CHECK(size(Dataset::zip({ten.batch(4), ten.batch(5)})) == -1);
  CHECK(size(ten.batch(4).concatenate(ten.batch(5))) == -1);
  CHECK(size(ten) == -1);
  CHECK(size(ten.batch(4).unbatch()) == -1);
  CHECK(size(Dataset::from_tensor_slices(zeros({9, 6, 2}))) == 6);
  CHECK(size(of_unknown_size(9, 2)) == -1);
}

TEST_CASE("one worker's batches are cut for its replicas", "[data][auto_shard]") {
  CHECK(share_of(Dataset::range(9).batch(2), 1, 0, 2) ==
        Batches{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {}});
  CHECK(share_of(Dataset::range(9).batch(2, true), 1, 0, 2) ==
        Batches{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}});
  CHECK(share_of(Dataset::range(6).batch(4), 1, 0, 2) == Batches{{0, 1}, {2, 3}, {4}, {5}});
  CHECK(share_of(Dataset::range(4).batch(4), 1, 0, 5) == Batches{{0}, {1}, {2}, {3}, {}});
  CHECK(share_of(Dataset::range(8).batch(4), 1, 0, 3) ==
        Batches{{0, 1}, {2, 3}, {}, {4, 5}, {6, 7}, {}});
  const auto hundred = share_of(Dataset::range(100).batch(10), 1, 0, 2);
  CHECK(hundred.size() == 20);
  for (const Numbers& piece : hundred) CHECK(piece.size() == 5);
}

TEST_CASE("one worker's batches from files are cut anew across their borders",
          "[data][auto_shard]") {
  const auto six = of_files(3).batch(4);
  CHECK(share_of(six, 1, 0, 2) == Batches{{0, 1}, {2, 3}, {4, 5}});
  CHECK(share_of(with_policy(six, AutoShardPolicy::Data), 1, 0, 2) ==
        Batches{{0, 1}, {2, 3}, {4}, {5}});
}

TEST_CASE("only what certainly has an element to repeat never ends", "[data][auto_shard]") {
  const auto endless = [](const Dataset& dataset) { return never_ends(*dataset.node()); };
  const auto some = Dataset::range(4).filter([](const Batch&) { return true; });
  CHECK(endless(Dataset::range(4).repeat().batch(2)));
  CHECK(endless(Dataset::range(2).concatenate(Dataset::range(4).repeat())));
  CHECK_FALSE(endless(Dataset::range(4)));
  CHECK_FALSE(endless(some.repeat()));
  CHECK_FALSE(endless(Dataset::zip({Dataset::range(4).repeat(), some.repeat()})));
  CHECK(some.repeat().cardinality() == kInfiniteCardinality);  // as TensorFlow counts
}

TEST_CASE("sharding by Data deals the pieces of batches to the workers", "[data][auto_shard]") {
  const auto nine = with_policy(Dataset::range(9).batch(2), AutoShardPolicy::Data);
  CHECK(share_of(nine, 2, 0, 2) == Batches{{0}, {2}, {4}, {6}, {8}});
  CHECK(share_of(nine, 2, 1, 2) == Batches{{1}, {3}, {5}, {7}, {}});
  const auto fifteen = with_policy(Dataset::range(15).batch(4), AutoShardPolicy::Data);
  CHECK(share_of(fifteen, 2, 0, 4) == Batches{{0}, {2}, {4}, {6}, {8}, {10}, {12}, {14}});
  CHECK(share_of(fifteen, 2, 1, 4) == Batches{{1}, {3}, {5}, {7}, {9}, {11}, {13}, {}});
  const auto eight = with_policy(Dataset::range(8).batch(3), AutoShardPolicy::Data);
  CHECK(share_of(eight, 2, 0, 2) == Batches{{0, 1}, {3, 4}, {6}});
  CHECK(share_of(eight, 2, 1, 2) == Batches{{2}, {5}, {7}});
}

TEST_CASE("Auto without files deals by Data, Off gives every worker all", "[data][auto_shard]") {
  const auto four = Dataset::range(4).batch(1);
  const auto alone = [&](AutoShardPolicy policy, int64_t w) {
    return scalars_of(Dataset(auto_shard(four.node(), 2, w, policy)));
  };
  CHECK(alone(AutoShardPolicy::Auto, 0) == Numbers{0, 2});
  CHECK(alone(AutoShardPolicy::Auto, 1) == Numbers{1, 3});
  CHECK(alone(AutoShardPolicy::Off, 1) == Numbers{0, 1, 2, 3});
  CHECK(scalars_of(Dataset(auto_shard(four.node(), 1, 0, AutoShardPolicy::Data))).size() == 4);
}

TEST_CASE("Off cuts known batches evenly and unknown ones batch by batch", "[data][auto_shard]") {
  const auto known = with_policy(Dataset::range(12).batch(8), AutoShardPolicy::Off);
  for (int64_t w : {0, 1})
    CHECK(share_of(known, 2, w, 2) == Batches{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}});
  const auto unknown = with_policy(of_unknown_size(12, 8), AutoShardPolicy::Off);
  CHECK(share_of(unknown, 2, 0, 2) == Batches{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}, {10, 11}});
}

TEST_CASE("sharding by File gives every worker other files", "[data][auto_shard]") {
  const auto three = of_files(3).batch(4);
  CHECK(share_of(three, 2, 0, 2) == Batches{{0, 1}, {4, 5}});
  CHECK(share_of(three, 2, 1, 2) == Batches{{2, 3}});
  CHECK(scalars_of(Dataset(auto_shard(of_files(4).shuffle(1).node(), 2, 1,
                                      AutoShardPolicy::File))) == Numbers{2, 3, 6, 7});
  const auto both = Dataset::zip({of_files(2), of_files(2)});
  CHECK(scalars_of(Dataset(auto_shard(both.node(), 2, 1, AutoShardPolicy::Auto))) == Numbers{2, 3});
}

TEST_CASE("too few files are an error, no files send Auto to Data", "[data][auto_shard]") {
  CHECK_THROWS_AS(auto_shard(of_files(2).node(), 3, 0, AutoShardPolicy::Auto),
                  InvalidArgumentError);
  CHECK_THROWS_AS(auto_shard(Dataset::range(4).node(), 2, 0, AutoShardPolicy::File), NotFoundError);
  const auto mixed = Dataset::zip({of_files(2), Dataset::range(4)});
  CHECK(scalars_of(Dataset(auto_shard(mixed.node(), 2, 0, AutoShardPolicy::Auto))) ==
        Numbers{0, 2});
}

TEST_CASE("Hint puts the shard where the hint stands", "[data][auto_shard]") {
  const auto hinted = Dataset::range(8).shard(kShardHint, kShardHint).batch(2);
  CHECK_THROWS_AS(elements_of(hinted), FailedPreconditionError);
  CHECK(share_of(with_policy(hinted, AutoShardPolicy::Hint), 2, 1, 2) ==
        Batches{{1}, {3}, {5}, {7}});
  const auto mapped = hinted.map([](const Batch& b) { return b; });
  CHECK(share_of(with_policy(mapped, AutoShardPolicy::Hint), 2, 0, 2) ==
        Batches{{0}, {2}, {4}, {6}});
}

TEST_CASE("the uppermost option counts, none means Auto", "[data][options]") {
  const auto ten = Dataset::range(10);
  CHECK_FALSE(ten.options().experimental_distribute.auto_shard_policy);
  const auto off = with_policy(ten, AutoShardPolicy::Off).batch(2).prefetch();
  CHECK(off.options().experimental_distribute.auto_shard_policy == AutoShardPolicy::Off);
  const auto hint = with_policy(off, AutoShardPolicy::Hint);
  CHECK(hint.options().experimental_distribute.auto_shard_policy == AutoShardPolicy::Hint);
  CHECK(with_policy(ten, AutoShardPolicy::Off).node()->table() != nullptr);
}

TEST_CASE("what cannot be split is refused", "[data][auto_shard]") {
  CHECK_THROWS_WITH(share_of(Dataset::range(4), 1, 0, 2),
                    "the dataset's elements are scalars and cannot be split over replicas; call "
                    "the `batch` method on the input Dataset");
  CHECK_THROWS_AS(share_of(Dataset::range(4).batch(2), 2, 0, 3), InvalidArgumentError);
  CHECK_THROWS_AS(auto_shard(Dataset::range(4).node(), 2, 2, AutoShardPolicy::Off),
                  InvalidArgumentError);
}
