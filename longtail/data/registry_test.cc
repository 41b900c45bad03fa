#include "longtail/data/registry.h"

#include <cstdlib>

#include "longtail/data/testing.h"

namespace longtail::data {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() { old_.empty() ? ::unsetenv(name_) : ::setenv(name_, old_.c_str(), 1); }

 private:
  const char* name_;
  std::string old_;
};

const PublishedData& cifar100() { return *find_published("cifar100"); }

TEST(Registry, LooksWhereItIsToldAndOtherwiseInTheUsualPlacesInOrder) {
  const Environment home("HOME", "/home/me");
  const Environment own("LONGTAIL_DATA", "/big/data");
  EXPECT_THAT(data_folders("/told"), ElementsAre("/told"));
  EXPECT_THAT(data_folders(),
              ElementsAre("/big/data", "data", "/home/me/.cache/longtail", "/usr/share/datasets"));
  EXPECT_EQ(cache_folder(), "/big/data");
  const Environment unset("LONGTAIL_DATA", "");
  EXPECT_THAT(data_folders(), ElementsAre("data", "/home/me/.cache/longtail", "/usr/share/datasets"));
  EXPECT_EQ(cache_folder(), "/home/me/.cache/longtail");
}

TEST(Registry, AFolderMayHoldTheDataOrBeIt) {
  const TempFolder folder;
  const fs::path path = write_tiny_cifar100(folder.path(), 2, 1, 1);
  EXPECT_EQ(find_data(cifar100(), folder.path()), path);
  EXPECT_EQ(find_data(cifar100(), path), path);
  EXPECT_EQ(find_data(cifar100(), folder / "elsewhere"), std::nullopt);
  const Environment own("LONGTAIL_DATA", folder.path().string());
  EXPECT_EQ(find_data(cifar100()), path);
}

TEST(Registry, DataThatIsNotThereIsAnErrorThatSaysWhereItWasLookedForAndWhatToDo) {
  const TempFolder folder;
  EXPECT_THAT(error_of([&] { load_dataset("cifar100", folder.path()); }),
              AllOf(HasSubstr("cifar100 is in none of these folders: " + folder.path().string()),
                    HasSubstr("longtail data fetch cifar100"), HasSubstr("--data DIR")));
}

TEST(Registry, APublishedNameMeansExactlyThePublishedData) {
  const TempFolder folder;
  write_tiny_cifar100(folder.path(), 2, 1, 1);
  EXPECT_THAT(error_of([&] { load_dataset("cifar100", folder.path()); }),
              HasSubstr("this is not cifar100 as published: 2 classes instead of 100"));
  fs::remove_all(folder / "cifar-100-python");
  write_tiny_cifar100(folder.path(), 100, 2, 1);
  EXPECT_THAT(error_of([&] { load_dataset("cifar100", folder.path()); }),
              HasSubstr("its 200 training images are not divided over the classes as they should be"));
}

TEST(Registry, AChangedPixelIsAWrongChecksum) {
  const TempFolder folder;
  const fs::path path = write_tiny_cifar100(folder.path(), 3, 2, 1);
  PublishedData published = cifar100();
  published.train_counts = {2, 2, 2};
  published.test_counts = {1, 1, 1};
  published.hash = load_dataset("cifar:" + path.string()).hash;
  EXPECT_EQ(load_published(published, path).hash, published.hash);
  Bytes bytes = base::read_bytes(path / "train");
  bytes[bytes.size() - 1000] ^= 1;
  write_file(path / "train", bytes);
  EXPECT_THAT(error_of([&] { load_published(published, path); }),
              AllOf(HasSubstr("its checksum is"), HasSubstr("instead of " + published.hash)));
  published.hash.clear();
  published.checksums = {{"train", std::string(32, '0')}};
  EXPECT_THAT(error_of([&] { load_published(published, path); }),
              HasSubstr("the MD5 checksum of `train` is"));
}

TEST(Registry, AnUnknownNameIsAUsageErrorWithASuggestion) {
  const TempFolder folder;
  EXPECT_THROW(load_dataset("cifar1000", folder.path()), base::UsageError);
  EXPECT_THAT(error_of([&] { load_dataset("cifar1000", folder.path()); }),
              HasSubstr("did you mean `cifar100`?"));
  EXPECT_THAT(error_of([&] { load_dataset("foldr:x", folder.path()); }), HasSubstr("did you mean `folder`?"));
  EXPECT_THAT(error_of([&] { load_dataset("", folder.path()); }), HasSubstr("unknown data set"));
}

}  // namespace
}  // namespace longtail::data
