#include <distribute/coordinator/detail/outcome.hpp>
#include <distribute/coordinator/detail/worker_service.hpp>
#include <distribute/coordinator/remote_dataset.hpp>
#include <distribute/coordinator/remote_function.hpp>
#include <distribute/coordinator/remote_value.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

using namespace distribute;                        // NOLINT: tests only
using namespace distribute::coordinator_internal;  // NOLINT

namespace {

/// Whatever is missing at the end is noticed.
void check_cut(const std::string& bytes, const std::function<void(std::string_view)>& read) {
  CHECK_NOTHROW(read(bytes));
  for (size_t size = 0; size < bytes.size(); ++size)
    CHECK_THROWS_AS(read(std::string_view(bytes).substr(0, size)), Error);
  CHECK_THROWS_AS(read(bytes + "x"), Error);
}

template <typename T>
T there_and_back(const T& value) {
  const std::string bytes = to_bytes(value);
  check_cut(bytes, [](std::string_view part) { from_bytes<T>(part); });
  return from_bytes<T>(bytes);
}

template <typename T>
void check_same(const T& value) {
  CHECK(there_and_back(value) == value);
}

auto capturing() {
  return [value = int64_t{3}](const InputContext&) { return data::Dataset::range(value); };
}

}  // namespace

TEST_CASE("values come back as they went, and cut ones are noticed", "[coordinator][wire_value]") {
  check_same(true);
  check_same(int8_t(-5));
  check_same(std::numeric_limits<uint64_t>::max());
  check_same(std::numeric_limits<int64_t>::min());
  check_same(1.5f);
  check_same(std::numeric_limits<double>::infinity());
  check_same(std::string("a\0b", 3));
  check_same(std::vector<bool>{true, false, true});
  check_same(std::map<std::string, std::optional<int>>{{"a", 1}, {"", std::nullopt}});
  check_same(
      std::tuple(1, std::pair(2.0, std::string("x")), std::vector<std::vector<int>>{{}, {3}}));
}

TEST_CASE("tensors keep dtype, shape and absence", "[coordinator][wire_value]") {
  const Tensor x(Shape{2, 0, 3}, std::vector<float16>());
  CHECK(there_and_back(x).shape() == Shape{2, 0, 3});
  CHECK(there_and_back(x).dtype() == DType::Float16);
  CHECK_FALSE(there_and_back(Tensor()));
  const Tensor y{int64_t{1} << 40, int64_t{-1}};
  const auto batch = there_and_back(data::Batch{.x = y, .y = Tensor(true), .more = {y}});
  CHECK(batch.size() == 3);
  CHECK(batch.more[0].data<int64_t>()[0] == int64_t{1} << 40);
  CHECK(batch.y.item<bool>());
  CHECK(there_and_back(PerReplica<Tensor>({y, Tensor()})).size() == 2);
}

TEST_CASE("what travels beside values is checked, too", "[coordinator][outcome]") {
  const Outcome failed{OutcomeKind::Failed, StatusCode::NotFound, "no file"};
  check_cut(failed.encode(), [](std::string_view part) { Outcome::decode(part); });
  check_throws<NotFoundError>(
      [&] { std::rethrow_exception(Outcome::decode(failed.encode()).error("worker 1: f")); },
      "worker 1: f: no file");
  CHECK_THROWS_AS(Outcome::decode(Outcome{OutcomeKind(9), StatusCode::Ok, ""}.encode()),
                  DataLossError);
  CHECK_THROWS_AS(Outcome::decode(Outcome{OutcomeKind::Failed, StatusCode::Ok, ""}.encode()),
                  DataLossError);

  const Greeting greeting{
      .session = 7, .generation = 2, .worker = 1, .num_workers = 3, .registrations = {"a", "b"}};
  CHECK(there_and_back(greeting).registrations == greeting.registrations);
  const Recipe recipe{.kind = Recipe::Kind::Iterator, .name = "train", .serial = 4};
  CHECK(there_and_back(recipe).name == "train");
}

TEST_CASE("types that cannot travel are refused by the compiler",
          "[coordinator][remote_function]") {
  static_assert(WireValue<std::vector<std::tuple<Tensor, std::string>>>);
  static_assert(!WireValue<int*>);
  static_assert(!WireValue<data::Dataset>);
  static_assert(RemoteParameter<const Tensor&>);
  static_assert(RemoteParameter<data::Iterator&>);
  static_assert(RemoteParameter<DistributedIterator&>);
  static_assert(!RemoteParameter<Tensor&>);
  static_assert(!RemoteParameter<data::Iterator>);
  static_assert(RemoteResult<void>);
  static_assert(!RemoteResult<std::function<void()>>);
}

TEST_CASE("dataset functions without state are known by their type",
          "[coordinator][remote_dataset]") {
  const auto plain = [](const InputContext&) { return data::Dataset::range(7); };
  const auto without = [] { return data::Dataset::range(8); };
  static_assert(StatelessDatasetFunction<decltype(plain)>);
  static_assert(StatelessDatasetFunction<decltype(without)>);
  static_assert(DatasetFunction<decltype(capturing())>);
  static_assert(!StatelessDatasetFunction<decltype(capturing())>);
  CHECK(DatasetType<std::remove_const_t<decltype(plain)>>::added);
  const auto found =
      registry().find("dataset", DatasetType<std::remove_const_t<decltype(plain)>>::name());
  CHECK(found->make_data(InputContext()).cardinality() == 7);
  check_throws<InvalidArgumentError>([] { registry().find("dataset", typeid(capturing()).name()); },
                                     "there is no remote dataset");
}

TEST_CASE("types with one name are told apart by a name of the user's", "[coordinator][registry]") {
  Registry registry;
  const auto one = [] {
    return std::make_shared<const Registration>(
        Registration{.kind = "dataset", .name = "same", .signature = {}});
  };
  registry.add_type(one());
  CHECK_NOTHROW(registry.find("dataset", "same"));
  registry.add_type(one());
  check_throws<InvalidArgumentError>([&] { registry.find("dataset", "same"); }, "look alike");
}
