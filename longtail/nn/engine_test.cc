// Names of engines and what they mean here. What an engine computes is conformance_test's business.
#include "longtail/nn/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/base/error.h"
#include "longtail/nn/engine_names.h"
#include "longtail/nn/registry.h"

namespace longtail::nn {
namespace {

using testing::HasSubstr;

std::string refusal(std::string_view kind, const ResNetSpec& spec = {}) {
  try {
    resolve_engine(kind, spec);
  } catch (const base::Error& error) {
    return error.what();
  }
  return "";
}

TEST(Engine, AnUnknownKindIsExplainedWithAllThereAre) {
  const std::string error = refusal("refernce");
  EXPECT_THAT(error, HasSubstr("did you mean `reference`"));
  for (const EngineInfo& engine : engines()) EXPECT_THAT(error, HasSubstr(engine.name));
  EXPECT_THROW(resolve_engine("onednn"), base::UsageError);
}

TEST(Engine, TheRegistryHasTheNamesThatTheParametersList) {
  ASSERT_EQ(engines().size(), kEngineNames.size());
  for (std::size_t i = 0; i < kEngineNames.size(); ++i) EXPECT_EQ(engines()[i].name, kEngineNames[i].name);
}

TEST(Engine, AutoIsTheFirstThatCanDoTheNetworkHere) {
  for (const int side : {32, 64}) {
    const ResNetSpec spec = make_spec("resnet20", "pad", 10, 3, 1, side);
    std::string first, why;
    for (const EngineInfo& engine : engines()) {
      if (first.empty() && engine.automatic && engine.available(&why) && engine.does(spec, &why))
        first = engine.name;
    }
    EXPECT_EQ(resolve_engine("auto", spec), first);
    EXPECT_THAT(engines_for(spec), testing::Contains(first));
  }
}

TEST(Engine, ANetworkThatAnEngineCannotDoIsRefusedInASentence) {
  const ResNetSpec wide = make_spec("resnet20", "pad", 10, 3, 2, 64);
  std::string why;
  for (const EngineInfo& engine : engines()) {
    if (!engine.available(&why) || engine.does(wide, &why)) continue;
    EXPECT_THAT(refusal(engine.name, wide),
                HasSubstr("cannot do this network: it does 32x32 images at width 1"));
    base::ThreadPool pool(1);
    EXPECT_THROW(make_engine(engine.name, wide, 1, pool), base::Error);
  }
  EXPECT_EQ(resolve_engine("reference", wide), "reference");
}

}  // namespace
}  // namespace longtail::nn
