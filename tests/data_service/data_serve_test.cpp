#include <distribute/testing/process_cluster.hpp>

#include <tests/data_service/data_service_support.hpp>
#include <tests/support/run_program.hpp>

using namespace service_test;

TEST_CASE("distribute data serve is a dispatcher, and ends by SIGTERM with status 0",
          "[data_service][multiproc]") {
  SKIP_WITHOUT_PROGRAM("distribute");
  register_all();
  ClusterOptions options = quick_options();
  options.job_token = "the token of a data service";
  const TemporaryDirectory directory;
  testing::ProcessCluster serving({.workers = 1,
                                   .command = {testing::binary_dir() + "/distribute", "data",
                                               "serve", "--work_dir=" + directory / "journal"},
                                   .environment = {{"DISTRIBUTE_JOB_TOKEN", options.job_token},
                                                   {"DISTRIBUTE_TLS", options.tls ? "1" : "0"}}});
  const std::string line = "data dispatcher at ";
  serving.wait_for_output({"worker", 0}, "\n");
  const std::string out = serving.output({"worker", 0});
  REQUIRE(out.starts_with(line));
  const std::string target = out.substr(line.size(), out.find('\n') - line.size());
  const WorkerServer worker({.dispatcher_address = target, .cluster = options});
  ReadOptions read = reading(target, "ten", ShardingPolicy::Dynamic);
  read.cluster = options;
  CHECK(sorted(numbers(data::service::from_dataset_id(read))) == up_to(10));
  CHECK(std::filesystem::file_size(directory / "journal/journal") > 0);
  serving.kill({"worker", 0}, SIGTERM);
  CHECK(serving.wait().at(0).status.code == 0);
}
