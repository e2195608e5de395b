#include <distribute/collective/timeline.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/central_storage_strategy.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/strategy/one_device_strategy.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/fake_cuda.hpp>
#include <tests/support/fake_cupti.hpp>
#include <tests/support/temporary_directory.hpp>

#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

using namespace distribute;
using Json = nlohmann::json;

namespace {

struct Span {
  std::string name;
  double begin = 0, end = 0;
};

/// The spans of each row of a Chrome trace, by the name of the row.
std::map<std::string, std::vector<Span>> rows_of(const std::string& path) {
  std::ifstream file(path);
  REQUIRE(file.good());
  const Json trace = Json::parse(file);
  std::map<int, std::string> names;
  std::map<std::string, std::vector<Span>> rows;
  for (const Json& event : trace.at("traceEvents"))
    if (event.at("name") == "thread_name")
      names[event.at("tid")] = event.at("args").at("name").get<std::string>();
  for (const Json& event : trace.at("traceEvents"))
    if (event.at("ph") == "X")
      rows[names.at(event.at("tid"))].push_back(
          {event.at("name"), event.at("ts"),
           event.at("ts").get<double>() + event.at("dur").get<double>()});
  return rows;
}

/// One file for each test, which its strategies write as they end.
class Trace {
 public:
  Trace() { ::setenv("DISTRIBUTE_TIMELINE", path().c_str(), 1); }
  ~Trace() { ::unsetenv("DISTRIBUTE_TIMELINE"); }
  std::string path(const std::string& name = "trace.json") const { return directory_ / name; }

 private:
  TemporaryDirectory directory_;
};

void three_steps(Strategy& strategy) {
  for (int step = 0; step < 3; ++step)
    strategy.run([] {
      get_replica_context()->all_reduce(ReduceOp::Sum, Tensor(1.0f));
      get_replica_context()->merge_call([](Strategy&) {});
    });
}

/// Each replica has run three times, and in each run were these meetings.
void check_replica(const std::vector<Span>& spans) {
  REQUIRE(spans.size() == 9);
  for (size_t i = 0; i < 9; i += 3) {
    CHECK(spans[i].name == "run");
    CHECK(spans[i + 1].name == "all_reduce");
    CHECK(spans[i + 2].name == "merge_call");
    CHECK(spans[i].begin <= spans[i + 1].begin);
    CHECK(spans[i + 1].end <= spans[i + 2].begin + 0.002);  // rounded to nanoseconds
    CHECK(spans[i + 2].end <= spans[i].end + 0.002);
  }
}

template <typename S>
void check_local(const std::string& name, S make) {
  const Trace trace;
  {
    auto strategy = make();
    three_steps(*strategy);
  }
  const auto rows = rows_of(trace.path());
  REQUIRE(rows.size() == 3);
  CHECK(rows.at(name + ".run").size() == 3);
  check_replica(rows.at(name + " replica 0"));
  check_replica(rows.at(name + " replica 1"));
}

}  // namespace

TEST_CASE("a trace of one process has its runs, and what each replica met the others for",
          "[strategy][run_spans]") {
  check_local("MirroredStrategy", [] {
    return std::make_unique<MirroredStrategy<>>(MirroredOptions{.num_replicas = 2});
  });
  check_local("CentralStorageStrategy", [] {
    return std::make_unique<CentralStorageStrategy>(CentralStorageOptions{.num_replicas = 2});
  });
}

TEST_CASE("strategies one after the other write one trace", "[strategy][run_spans]") {
  const Trace trace;
  {
    OneDeviceStrategy strategy("/cpu:0");
    three_steps(strategy);
  }
  {
    MirroredStrategy strategy({.num_replicas = 1});
    three_steps(strategy);
  }
  const auto rows = rows_of(trace.path());
  REQUIRE(rows.size() == 2);
  CHECK(rows.at("OneDeviceStrategy.run").size() == 3);
  CHECK(rows.at("MirroredStrategy.run").size() == 3);
}

TEST_CASE("a run that fails is in the trace, too", "[strategy][run_spans]") {
  const Trace trace;
  {
    MirroredStrategy strategy({.num_replicas = 2});
    CHECK_THROWS_AS(strategy.run([] { throw InternalError("wanted"); }), InternalError);
  }
  CHECK(rows_of(trace.path()).at("MirroredStrategy.run").size() == 1);
}

TEST_CASE("a task of a job writes a trace of its own name", "[strategy][run_spans]") {
  const Trace trace;
  ::setenv("TF_CONFIG",
           R"({"cluster": {"worker": ["a:1"]}, "task": {"type": "evaluator", "index": 0}})", 1);
  {
    OneDeviceStrategy strategy("/cpu:0");
    three_steps(strategy);
  }
  ::unsetenv("TF_CONFIG");
  CHECK(rows_of(trace.path("trace.evaluator-0.json")).at("OneDeviceStrategy.run").size() == 3);
  CHECK_FALSE(std::ifstream(trace.path()).good());
}

TEST_CASE("a task is found in any order and spelling of its members", "[strategy][run_spans]") {
  const std::string cluster = R"("cluster": {"type": ["a:1"], "worker": ["b:1"]})";
  const std::string task = R"("task":{"index" : "3","type":"evaluator"})";
  for (const std::string& config :
       {"{" + cluster + "," + task + "}", "{" + task + "," + cluster + "}"}) {
    const Trace trace;
    ::setenv("TF_CONFIG", config.c_str(), 1);
    {
      OneDeviceStrategy strategy("/cpu:0");
      three_steps(strategy);
    }
    ::unsetenv("TF_CONFIG");
    CHECK(std::ifstream(trace.path("trace.evaluator-3.json")).good());
  }
}

TEST_CASE("what the GPUs of a strategy did is in its trace, within its run",
          "[strategy][run_spans]") {
  using distribute::testing::FakeCupti;
  const distribute::testing::FakeCuda cuda;
  const device_internal::ScopedCupti scoped(FakeCupti::table());
  const Trace trace;
  {
    MirroredStrategy<GpuDevice> strategy({.num_replicas = 1});
    strategy.run([] {
      FakeCupti::kernels.push_back(
          distribute::testing::cupti_kernel("relu", FakeCupti::Clock::now(), 0, 13));
    });
  }
  const auto rows = rows_of(trace.path());
  REQUIRE(rows.count("GPU 1 stream 13") == 1);
  const Span kernel = rows.at("GPU 1 stream 13").at(0), run = rows.at("MirroredStrategy.run").at(0);
  CHECK(kernel.name == "relu");
  constexpr double kMicroseconds = 20'000;  // as far as the clocks' distance may be wrong here
  CHECK(kernel.begin > run.begin - kMicroseconds);
  CHECK(kernel.end < run.end + kMicroseconds);
}
