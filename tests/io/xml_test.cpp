#include <distribute/io/xml.hpp>

#include <tests/support/catch.hpp>

namespace io = distribute::io;

TEST_CASE("elements, text and entities are read", "[io][xml]") {
  const auto root = io::parse_xml(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n  <!-- list --><!DOCTYPE x>"
      "<s3:List xmlns:s3=\"http://x/\"><Name>a&amp;b &lt;&#233;&#x20AC;&quot;</Name><Empty/>"
      "<Contents>\n<Key>one</Key></Contents><Contents ><Key><![CDATA[<two>]]></Key></Contents >"
      "</s3:List>");
  REQUIRE(root.ok());
  CHECK(root->name == "List");
  CHECK(root->text_of("Name") == "a&b <\xC3\xA9\xE2\x82\xAC\"");
  REQUIRE(root->child("Empty"));
  CHECK(root->child("Empty")->text.empty());
  REQUIRE(root->children.size() == 4);
  CHECK(root->children[2].text_of("Key") == "one");
  CHECK(root->children[3].text_of("Key") == "<two>");
  CHECK(root->child("None") == nullptr);
  CHECK(root->text_of("None").empty());
}

TEST_CASE("what is no XML is an error", "[io][xml]") {
  for (const std::string text :
       {"", "   ", "hello", "<a>", "<a><b></a></b>", "<a>&nope;</a>", "<a>&#xZZ;</a>", "<>x</>",
        "<a", "<a></b>", "<a><!-- </a>", "<?xml", "<a>text"}) {
    INFO(text);
    CHECK(io::parse_xml(text).status().code() == absl::StatusCode::kDataLoss);
  }
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  CHECK_FALSE(io::parse_xml(deep).ok());
}

TEST_CASE("every cut of an answer is refused without harm", "[io][xml]") {
  const std::string text = "<?xml?><a x='1'><b>&lt;</b><![CDATA[c]]><!--d--><e/></a>";
  for (size_t size = 0; size < text.size(); ++size)
    CHECK_FALSE(io::parse_xml(std::string_view(text).substr(0, size)).ok());
  CHECK(io::parse_xml(text).ok());
}

TEST_CASE("escaped text comes back", "[io][xml]") {
  const std::string text = "a&b<c>\"d\"'e'\r";
  CHECK(io::xml_escape("<&>") == "&lt;&amp;&gt;");
  CHECK(io::parse_xml("<k>" + io::xml_escape(text) + "</k>")->text == text);
}
