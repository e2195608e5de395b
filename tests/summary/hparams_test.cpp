#include <distribute/base/status.hpp>
#include <distribute/io/protobuf.hpp>
#include <distribute/io/tfrecord.hpp>
#include <distribute/summary/file_writer.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;

namespace {

std::map<std::string, std::string> contents_of(const std::string& path) {
  std::map<std::string, std::string> contents;
  auto reader = value_or_throw(io::RecordReader::open(path));
  for (std::string record; value_or_throw(reader.next(record));)
    for (const auto& entry : summary::decode_event(record, path).entries) {
      CHECK(entry.plugin == "hparams");
      contents[entry.tag] = entry.plugin_content;
    }
  return contents;
}

/// The names in the map of a session's start, and its group.
std::pair<std::vector<std::string>, std::string> session_of(const std::string& content) {
  std::vector<std::string> names;
  std::string group;
  io::ProtoReader data(content);
  for (io::ProtoField start; data.next(start);) {
    if (start.number != 3) continue;
    io::ProtoReader fields(start.bytes);
    for (io::ProtoField field; fields.next(field);) {
      if (field.number == 4) group = field.bytes;
      if (field.number != 1) continue;
      io::ProtoReader entry(field.bytes);
      for (io::ProtoField part; entry.next(part);)
        if (part.number == 1) names.emplace_back(part.bytes);
    }
  }
  CHECK(data.ok());
  return {names, group};
}

}  // namespace

TEST_CASE("a run says what it was started with, and how it ended", "[summary][hparams]") {
  const TemporaryDirectory directory;
  const auto writer = summary::create_file_writer(directory.path());
  CHECK_FALSE(summary::hparams({{"rate", 0.1}}));
  {
    const auto scope = writer.as_default();
    CHECK(summary::hparams_config({{"rate", 0.1}, {"name", "adam"}}, {{.tag = "epoch_loss"}}));
    CHECK(summary::hparams({{"rate", 0.1}, {"layers", 3}, {"norm", true}, {"name", "adam"}}));
    CHECK(summary::hparams_end());
  }
  writer.close();
  const auto contents = contents_of(writer.path());
  REQUIRE(contents.size() == 3);
  const auto [names, group] = session_of(contents.at("_hparams_/session_start_info"));
  CHECK(names == std::vector<std::string>{"rate", "layers", "norm", "name"});
  CHECK_FALSE(group.empty());
  CHECK_FALSE(contents.at("_hparams_/session_end_info").empty());
  CHECK_FALSE(contents.at("_hparams_/experiment").empty());
}

TEST_CASE("runs of the same values are one group", "[summary][hparams]") {
  const auto group = [](const summary::Hparams& values, const std::string& trial = {}) {
    const TemporaryDirectory directory;
    const auto writer = summary::create_file_writer(directory.path());
    const auto scope = writer.as_default();
    summary::hparams(values, trial);
    writer.flush();
    return session_of(contents_of(writer.path()).at("_hparams_/session_start_info")).second;
  };
  CHECK(group({{"a", 1}, {"b", "x"}}) == group({{"b", "x"}, {"a", 1}}));
  CHECK(group({{"a", 1}, {"b", "x"}}) != group({{"a", 2}, {"b", "x"}}));
  CHECK(group({{"a", 1}}) != group({{"a", true}}));
  CHECK(group({{"a", 1}}, "mine") == "mine");
}
