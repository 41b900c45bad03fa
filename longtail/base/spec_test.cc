#include "longtail/base/spec.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace longtail::base {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

// Two variants: one that takes a number from its context, one with a choice inside it.
struct Shape : Chosen {
  virtual double area() const = 0;
};
using Signature = Shape(double);
const Family<Signature>& shapes();

struct Square final : Shape {
  struct Config {
    double side = 1;
  };
  Square(const Config& config, double unit) : side(config.side * unit) {}
  double area() const override { return side * side; }
  double side;
};

struct Twice final : Shape {
  struct Config {
    std::string of = "square";
    int times = 2;
  };
  Twice(Config& config, double unit) : inner(shapes().make(config.of, unit)), times(config.times) {
    config.of = in_brackets(inner->name());
  }
  double area() const override { return times * inner->area(); }
  std::unique_ptr<Shape> inner;
  int times;
};

const Family<Signature>& shapes() {
  static const Family<Signature> family = [] {
    ParamTable<Square::Config> square;
    square.add("side", &Square::Config::side, "Its side.").above(0);
    ParamTable<Twice::Config> twice;
    twice.add("of", &Twice::Config::of, "What is taken.");
    twice.add("times", &Twice::Config::times, "How often.").at_least(1);
    return Family<Signature>("shape", {variant<Signature, Square>("square", "A square.", square),
                                       variant<Signature, Twice>("twice", "A shape many times.", twice)});
  }();
  return family;
}

std::string refusal(std::string_view text) {
  try {
    shapes().make(text, 1);
  } catch (const Error& error) {
    return error.what();
  }
  return "(nothing thrown)";
}

TEST(Spec, ReadsANameAndItsArgumentsInBothForms) {
  for (const char* text : {"name:a=1,b=x(c=2,d=3)", " name ( a = 1 , b = x(c=2,d=3) )"}) {
    const Choice choice = read_choice("thing", text);
    EXPECT_EQ(choice.name, "name");
    EXPECT_THAT(choice.arguments, ElementsAre(Pair("a", "1"), Pair("b", "x(c=2,d=3)")));
  }
  EXPECT_TRUE(read_choice("thing", "name").arguments.empty());
}

TEST(Spec, AChainIsCutAtPlusSignsOutsideBracketsAndNumbers) {
  EXPECT_THAT(split_chain("crop_flip+mixup:alpha=0.2"), ElementsAre("crop_flip", "mixup:alpha=0.2"));
  EXPECT_THAT(split_chain("a(b=c+d)+e:f=1e+06"), ElementsAre("a(b=c+d)", "e:f=1e+06"));
  EXPECT_THAT(split_chain("alone"), ElementsAre("alone"));
  EXPECT_THAT(split_chain("a+"), ElementsAre("a", ""));
}

TEST(Spec, MakesTheVariantFromItsParametersAndItsContext) {
  EXPECT_EQ(shapes().make("square:side=3", 2)->area(), 36);
  EXPECT_EQ(shapes().make("twice:of=twice(of=square(side=3),times=5)", 1)->area(), 90);
}

TEST(Spec, TheCanonicalTextLeavesDefaultsOutAtEveryDepthAndIsReadBackUnchanged) {
  EXPECT_EQ(shapes().make(" square( side = 1.0 )", 1)->name(), "square");
  const std::string nested = shapes().make("twice:times=3,of=twice(times=2,of=square(side=2.50))", 1)->name();
  EXPECT_EQ(nested, "twice:of=twice(of=square(side=2.5)),times=3");
  EXPECT_EQ(shapes().make(nested, 1)->name(), nested);
}

TEST(Spec, ErrorsNameTheChoiceTheKeyAndWhatThereIs) {
  EXPECT_EQ(refusal("sqare"), "unknown shape `sqare`; there are square, twice; did you mean `square`?");
  EXPECT_EQ(refusal("square:sid=2"), "shape `square`: unknown key `sid`; did you mean `side`?");
  EXPECT_EQ(refusal("twice:height=2"), "shape `twice`: unknown key `height`; it takes of, times");
  EXPECT_EQ(refusal("square:side=0"), "shape `square`: `side` is `0`; it must be above 0");
  EXPECT_THAT(refusal("square:3"), HasSubstr("`3` is not `key=value`"));
  EXPECT_THAT(refusal("square:side=1,side=2"), HasSubstr("`side` is given twice"));
  EXPECT_THAT(refusal("square(side=1"), HasSubstr("brackets do not match"));
  EXPECT_THAT(refusal("twice:of=square)"), HasSubstr("brackets do not match"));
}

// What is accepted is read back from its name; what is refused leaves nothing behind.
TEST(Spec, SixteenChoicesMayBeInsideOneHoweverTheyAreWritten) {
  const auto nested = [](int levels, bool colons) {
    std::string text = "square";
    for (int i = 0; i < levels; ++i)
      text = fmt::format(fmt::runtime(colons ? "twice:of={}" : "twice(of={})"), text);
    return text;
  };
  for (const bool colons : {false, true}) {
    const std::string name = shapes().make(nested(16, colons), 1)->name();
    EXPECT_EQ(shapes().make(name, 1)->name(), name);
    for (const int levels : {17, 18, 5000}) {
      EXPECT_THAT(refusal(nested(levels, colons)), HasSubstr("more than 16 others inside each other"))
          << levels;
    }
    EXPECT_EQ(shapes().make(name, 1)->name(), name);
  }
}

TEST(Spec, AVariantDescribesItsParametersForHelpAndDocumentation) {
  EXPECT_EQ(shapes().infos()[0].parameter_words(), "side: above 0 (default 1)");
  EXPECT_EQ(shapes().choices(), "square:side=1 | twice:of=square,times=2");
}

}  // namespace
}  // namespace longtail::base
