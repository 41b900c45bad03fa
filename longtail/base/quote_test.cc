#include "longtail/base/quote.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/base/error.h"
#include "longtail/base/hostile_names.h"

namespace longtail::base {
namespace {

using testing::ElementsAre;

TEST(QuoteTest, PlainTextIsUtf8WithoutControlCharacters) {
  for (const char* good : {"", "uniform", "progressive:gamma=2", "ρ = 100", "名前", "T-shirt/top", "é"}) {
    EXPECT_TRUE(is_plain(good)) << good;
  }
  const std::vector<std::string> bad_texts = {"a\nb",         "a\rb",
                                              "a\tb",         "\x1b[31m",
                                              "a\x7f",        std::string("\xc2\x9b") + "31m",
                                              "\xe2\x80\xa8", std::string("\xe2\x80\xae") + "txt",
                                              "\xe2\x81\xa6", "\xef\xbb\xbf",
                                              "\xff",         "\xc0\xaf"};
  for (const std::string& bad : bad_texts) {
    EXPECT_FALSE(is_plain(bad)) << quote::terminal(bad);
  }
  EXPECT_FALSE(is_plain(std::string_view("a\0b", 3)));
}

TEST(QuoteTest, TheRefusalSaysWhoseTextItIsAndShowsItHarmlessly) {
  try {
    require_plain("the key `strategy`", "x\x1b[2J");
    FAIL() << "it was taken";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "the key `strategy` has a control character: `x\\x1b[2J`; names are printable text");
  }
}

TEST(QuoteTest, GnuplotReadsOneStringOnOneLine) {
  EXPECT_EQ(quote::gnuplot("it's"), "'it’s'");
  EXPECT_EQ(quote::gnuplot("' ; system('x')"), "'’ ; system(’x’)'");
  EXPECT_EQ(quote::gnuplot("x\nsystem(\"touch PWNED\")\n#"), "'x system(\"touch PWNED\") #'");
  EXPECT_EQ(quote::gnuplot_tic("50%s"), "'50%%s'");
}

TEST(QuoteTest, LatexGetsNoCommandAndNoArgument) {
  EXPECT_EQ(quote::latex("\\input{/etc/passwd}"), "\\textbackslash{}input\\{/etc/passwd\\}");
  EXPECT_EQ(quote::latex("^^5cinput"), "\\^{}\\^{}5cinput");
  EXPECT_EQ(quote::latex("[9cm] x"), "{}[9cm] x");
  EXPECT_EQ(quote::latex("*x"), "{}*x");
  EXPECT_EQ(quote::latex("a\n\nb"), "a  b");
}

TEST(QuoteTest, AnArgumentIsQuotedOnlyWhereTheShellWouldReadMoreIntoIt) {
  EXPECT_EQ(quote::argument("out/my-study_1.2"), "out/my-study_1.2");
  EXPECT_EQ(quote::argument("my study"), "'my study'");
  EXPECT_EQ(quote::argument("it's"), "'it'\\''s'");
  EXPECT_EQ(quote::argument(""), "''");
}

TEST(QuoteTest, HtmlGetsNoElementAndNoAttribute) {
  EXPECT_EQ(quote::html("<a href='x' \"&\">"), "&lt;a href=&#39;x&#39; &quot;&amp;&quot;&gt;");
  EXPECT_EQ(quote::json_in_html("\"<!--<script></script>\""),
            "\"\\u003c!--\\u003cscript\\u003e\\u003c/script\\u003e\"");
}

TEST(QuoteTest, MarkdownGetsNoElementNoLinkAndNoColumn) {
  EXPECT_EQ(quote::markdown("<script> p < 0.05 | [x](y)"), "&lt;script> p < 0.05 \\| [x]\\(y)");
}

TEST(QuoteTest, ACellOfACsvIsNeverAFormulaAndReadsBackAsItWas) {
  EXPECT_EQ(quote::csv("=cmd|' /C calc'!A0"), "\"'=cmd|' /C calc'!A0\"");
  EXPECT_EQ(quote::csv("-1.5"), "-1.5");
  EXPECT_EQ(quote::csv("Holm's"), "Holm's");
  for (const std::string& name : hostile_names()) {
    if (!is_plain(name)) continue;
    EXPECT_THAT(csv_cells("1," + quote::csv(name) + ",2"), ElementsAre("1", name, "2"));
  }
  EXPECT_THAT(csv_cells("a,\"b,\"\"c\"\"\",,d"), ElementsAre("a", "b,\"c\"", "", "d"));
}

TEST(QuoteTest, ATerminalIsShownControlCharactersAndNotSentThem) {
  EXPECT_EQ(quote::terminal("a\x1b]0;title\x07\nb\tc"), "a\\x1b]0;title\\x07\nb\tc");
  EXPECT_EQ(quote::terminal("\xc2\x9b"
                            "2J ρ"),
            "\\xc2\\x9b2J ρ");
  EXPECT_EQ(quote::terminal("\xff\x9b"), "\\xff\\x9b");
}

TEST(QuoteTest, NoQuoteLeavesAControlCharacterOrAnEndOfLineInAnyHostileName) {
  for (const std::string& name : hostile_names()) {
    for (const std::string& quoted : {quote::gnuplot(name), quote::gnuplot_tic(name), quote::latex(name),
                                      quote::html(name), quote::markdown(name), quote::csv(name)}) {
      EXPECT_TRUE(is_plain(quoted)) << quote::terminal(quoted);
    }
    for (const char c : quote::terminal(name)) {
      EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t');
    }
  }
}

}  // namespace
}  // namespace longtail::base
