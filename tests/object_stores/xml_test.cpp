#include <distribute/object_stores/detail/xml.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

#define SKIP_WITHOUT_XML() \
  if (!io::has_xml()) SKIP("no pugixml")

TEST_CASE("elements, text and entities are read", "[io][xml]") {
  SKIP_WITHOUT_XML();
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
  SKIP_WITHOUT_XML();
  for (const std::string text :
       {"", "   ", "hello", "<a>", "<a><b></a></b>", "<a>&nope;</a>", "<a>&#xZZ;</a>", "<a>&#;</a>",
        "<a>&#x;</a>", "<a>b & c</a>", "<a>&amp</a>", "<>x</>", "<a", "<a></b>", "<a><!-- </a>",
        "<?xml", "<a>text", "<a b>text</a>"}) {
    INFO(text);
    CHECK(io::parse_xml(text).status().code() == absl::StatusCode::kDataLoss);
  }
  std::string zero = "<a>text</a>";
  zero[4] = '\0';
  CHECK(io::parse_xml(zero).status().code() == absl::StatusCode::kDataLoss);
}

TEST_CASE("elements nested deeper than 32 are refused", "[io][xml]") {
  SKIP_WITHOUT_XML();
  const auto nested = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += "<a>";
    for (int i = 0; i < depth; ++i) text += "</a>";
    return text;
  };
  CHECK(io::parse_xml(nested(33)).ok());  // the root has depth 0
  for (const int depth : {34, 1'000'000})
    CHECK(io::parse_xml(nested(depth)).status().code() == absl::StatusCode::kDataLoss);
  CHECK_FALSE(io::parse_xml(nested(1'000'000).substr(0, 3'000'000)).ok());
}

TEST_CASE("text keeps its spaces and its pieces, and numbers are characters", "[io][xml]") {
  SKIP_WITHOUT_XML();
  CHECK(io::parse_xml("<a> </a>")->text == " ");
  CHECK(io::parse_xml("<a> b <!-- c -->d<e>f</e><![CDATA[ g]]></a>")->text == " b d g");
  CHECK(io::parse_xml("<a>&#65;&#x42;&amp;nope;<![CDATA[&]]><!-- & --></a>")->text == "AB&nope;&");
}

TEST_CASE("every cut of an answer is refused without harm", "[io][xml]") {
  SKIP_WITHOUT_XML();
  const std::string text = "<?xml?><a x='1'><b>&lt;</b><![CDATA[c]]><!--d--><e/></a>";
  for (size_t size = 0; size < text.size(); ++size)
    CHECK_FALSE(io::parse_xml(std::string_view(text).substr(0, size)).ok());
  CHECK(io::parse_xml(text).ok());
}

TEST_CASE("escaped text comes back", "[io][xml]") {
  SKIP_WITHOUT_XML();
  const std::string text = "a&b<c>\"d\"'e'\r\n\t ]]> \xC3\xA9";
  CHECK(io::xml_escape("<&>") == "&lt;&amp;&gt;");
  CHECK(io::xml_escape("a\rb") == "a&#13;b");
  CHECK(io::parse_xml("<k>" + io::xml_escape(text) + "</k>")->text == text);
}

TEST_CASE("a build without pugixml says what to install", "[io][xml]") {
  if (io::has_xml()) SKIP("this build has pugixml");
  const absl::Status status = io::parse_xml("<a/>").status();
  CHECK(status.code() == absl::StatusCode::kUnimplemented);
  CHECK(status.message().find("libpugixml-dev") != std::string::npos);
}
