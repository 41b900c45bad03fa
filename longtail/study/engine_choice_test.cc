#include "longtail/study/engine_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/base/error.h"
#include "longtail/data/testing.h"
#include "longtail/nn/registry.h"
#include "longtail/study/folder.h"

namespace longtail::study {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Lists = std::vector<std::vector<std::string>>;

template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const base::Error& error) {
    return error.what();
  }
  return "(accepted)";
}

// As it is where `amx` is the best for small networks and nothing for others.
TEST(EngineChoice, IsTheBestThatCanDoEveryNetworkOfTheStudy) {
  const auto chosen = [](const Lists& lists) { return first_in_all(lists); };
  EXPECT_EQ(chosen({{"amx", "simd"}}), "amx");
  EXPECT_EQ(chosen({{"amx", "simd"}, {"amx", "simd"}}), "amx");
  EXPECT_EQ(chosen({{"amx", "simd"}, {"simd"}}), "simd");
  EXPECT_EQ(chosen({{"simd"}, {"amx", "simd"}}), "simd");
  EXPECT_EQ(chosen({{"amx"}, {"simd"}}), "");
  EXPECT_EQ(chosen({}), "");
}

TEST(EngineChoice, AutoIsAnEngineThatDoesTheNetworksOfAllRunsHere) {
  const data::TempFolder folder;
  for (const char* text : {"[model]\nwidth = 2\n", "[data]\nimage_size = 64\n", "[grid]\nwidth = [1, 4]\n",
                           "[grid]\nimage_size = [32, 48]\n", "[grid]\nseed = [1, 2]\n"}) {
    const StudyFile study = parse_study(text, "test.toml");
    const std::string name = engine_of(study, folder / "none");
    const auto runs = resolve(study, name);
    EXPECT_NO_THROW(require_networks(name, runs)) << text;
    EXPECT_NO_THROW(require_engine({"test", "", "1", name, runs})) << text;
    const auto& all = nn::engines();
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const auto& engine) {
      return engine.automatic && engine.name == name;
    })) << name;
  }
}

TEST(EngineChoice, AnEngineThatCannotDoANetworkIsRefusedBeforeAnythingIsMade) {
  const data::TempFolder folder;
  const StudyFile wide = parse_study("[model]\nengine = \"amx\"\n[grid]\nwidth = [1, 2]\n", "wide.toml");
  const std::string words = refusal([&] { open_study(wide, folder / "out", "test"); });
  EXPECT_THAT(words, AllOf(HasSubstr("cannot do the network of the run uniform-rho100-width2-seed42-"),
                           HasSubstr("on any machine: it does 32x32 images at width 1")));
  EXPECT_FALSE(std::filesystem::exists(folder / "out/runs"));
  EXPECT_FALSE(std::filesystem::exists(folder / "out/study.json"));
}

TEST(EngineChoice, AMachineThatLacksTheEngineIsToldApartFromANetworkThatItCannotDo) {
  std::string why;
  const auto runs = resolve(parse_study("[model]\nengine = \"amx\"\n", "small.toml"), "amx");
  const auto& amx = nn::engines().front();
  ASSERT_EQ(amx.name, "amx");
  const std::string words = refusal([&] { require_engine({"test", "", "1", "amx", runs}); });
  if (amx.available(&why)) {
    EXPECT_EQ(words, "(accepted)");
  } else {
    EXPECT_THAT(words, AllOf(HasSubstr("which this machine cannot run: " + why), HasSubstr("--out")));
  }
  EXPECT_THAT(refusal([&] {
                require_engine({"test", "", "1", "onednn", runs});
              }),
              HasSubstr("this version of longtail does not have it"));
}

}  // namespace
}  // namespace longtail::study
