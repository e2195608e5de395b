/// Exports to object stores are byte for byte those to a disk.
#include <distribute/base/status.hpp>
#include <distribute/http/http_client.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/saved_model/saved_model.hpp>

#include <tests/saved_model/fixed_model.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/fake_gcs.hpp>
#include <tests/support/fake_s3.hpp>
#include <tests/support/memory_store.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/thread_workers.hpp>

using namespace distribute;
using namespace distribute::saved_model;

namespace {

/// Every kind of export below `directory`, the second over an older one.
void export_all(const std::string& directory, const std::string& words) {
  nn::clear_session();  // the same names each time
  nn::Sequential net = fixed_model();
  save(net, directory + "/constants");
  save(net, directory + "/constants");
  save(net, directory + "/variables",
       {.weights = Weights::Variables, .assets_extra = {{"words.txt", words}}});
  export_onnx(net, directory + "/model.onnx");
  export_onnx(net, directory + "/large.onnx", {.external_data_above = 0});
}

using Files = std::map<std::string, std::string>;

/// The bytes of all files below, by their paths there.
void read_files(const std::string& directory, const std::string& place, Files& files) {
  io::FileSystem& fs = *value_or_throw(io::file_system_for(directory));
  for (const std::string& name : value_or_throw(fs.list_directory(directory))) {
    const std::string path = io::join_path(directory, name);
    if (value_or_throw(fs.is_directory(path)))
      read_files(path, place + name + "/", files);
    else
      files[place + name] = value_or_throw(io::read_file(path));
  }
}

Files files_below(const std::string& directory) {
  Files files;
  read_files(directory, "", files);
  return files;
}

/// An empty directory on a store of this kind; none where the environment names a real one.
std::string directory_on(const std::string& kind) {
  if (kind == "mem") MemoryStore::fresh();
  if (kind == "gs") FakeGcs::serve_process();
  if (kind == "s3" && !FakeS3::serve_process()) return "";
  const std::string directory = kind + "://bucket/exports";
  throw_if_error(io::remove_recursively(directory));
  return directory;
}

void check_equal(const Files& stored, const Files& local) {
  for (const auto& [place, bytes] : local) {
    INFO(place);
    REQUIRE(stored.contains(place));
    CHECK((stored.at(place) == bytes));
  }
  CHECK(stored.size() == local.size());  // the other workers' copies are gone
}

}  // namespace

TEST_CASE("exports to a store are those to a disk", "[saved_model][onnx][store]") {
  const std::string kind = GENERATE("mem", "s3", "gs");
  const int workers = GENERATE(1, 3);
  CAPTURE(kind, workers);
  if (!io::has_http() && kind != "mem") SKIP("no libcurl");
  if (!io::has_xml() && kind == "s3") SKIP("no pugixml");
  const std::string directory = directory_on(kind);
  if (directory.empty()) SKIP("the environment names another server");
  const TemporaryDirectory local;
  const std::string words = local / "words.txt";
  std::ofstream(words) << "one two";
  export_all(local / "exports", words);
  if (workers == 1) {
    export_all(directory, words);
  } else {
    run_clean(workers, 1, [&](Strategy& strategy, int) {
      const auto scope = strategy.scope();
      export_all(directory, words);
    });
  }
  const Files expected = files_below(local / "exports");
  CHECK(expected.size() == 8);
  check_equal(files_below(directory), expected);
}
