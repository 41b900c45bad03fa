#include "longtail/data/registry.h"

#include <map>

#include "longtail/base/hash.h"
#include "longtail/base/scoped_variable.h"
#include "longtail/data/testing.h"

namespace longtail::data {
namespace {

namespace fs = std::filesystem;
using base::ScopedVariable;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const PublishedData& cifar100() { return *find_published("cifar100"); }

TEST(Registry, LooksWhereItIsToldAndOtherwiseInTheUsualPlacesInOrder) {
  const ScopedVariable home("HOME", "/home/me");
  const ScopedVariable own("LONGTAIL_DATA", "/big/data");
  EXPECT_THAT(data_folders("/told"), ElementsAre("/told"));
  EXPECT_THAT(data_folders(),
              ElementsAre("/big/data", "data", "/home/me/.cache/longtail", "/usr/share/datasets"));
  EXPECT_EQ(cache_folder(), "/big/data");
  const ScopedVariable unset("LONGTAIL_DATA", "");
  EXPECT_THAT(data_folders(), ElementsAre("data", "/home/me/.cache/longtail", "/usr/share/datasets"));
  EXPECT_EQ(cache_folder(), "/home/me/.cache/longtail");
}

TEST(Registry, AFolderMayHoldTheDataOrBeIt) {
  const TempFolder folder;
  const fs::path path = write_tiny_cifar100(folder.path(), 2, 1, 1);
  EXPECT_EQ(find_data(cifar100(), folder.path()), path);
  EXPECT_EQ(find_data(cifar100(), path), path);
  EXPECT_EQ(find_data(cifar100(), folder / "elsewhere"), std::nullopt);
  const ScopedVariable own("LONGTAIL_DATA", folder.path().string());
  EXPECT_EQ(find_data(cifar100()), path);
}

// Files of MNIST and of Fashion-MNIST have the same names.
TEST(Registry, LooseFilesAreTakenOnlyWhereNoFolderIsCalledLikeTheData) {
  const TempFolder folder;
  const ScopedVariable own("LONGTAIL_DATA", (folder / "loose").string());
  const ScopedVariable home("HOME", folder.path().string());
  write_file(folder / "loose/train-images-idx3-ubyte", "x");
  EXPECT_EQ(find_data(*find_published("mnist")), folder / "loose");
  write_file(folder / ".cache/longtail/mnist/train-images-idx3-ubyte", "x");
  EXPECT_EQ(find_data(*find_published("mnist")), folder / ".cache/longtail/mnist");
}

TEST(Registry, DataThatIsNotThereIsAnErrorThatSaysWhereItWasLookedForAndWhatToDo) {
  const TempFolder folder;
  EXPECT_THAT(error_of([&] { load_dataset("cifar100", folder.path()); }),
              AllOf(HasSubstr("cifar100 is in none of these folders: " + folder.path().string()),
                    HasSubstr("longtail data fetch cifar100"), HasSubstr("--data DIR")));
}

TEST(Registry, AFolderToLookInIsRefusedBesideANameThatSaysThePlaceItself) {
  for (const char* name : {"cifar100", "birds", "list:train.txt,test.txt"})
    EXPECT_EQ(error_of([&] { refuse_idle_dir(name, "/data"); }), "") << name;
  for (const char* name : {"folder:birds", "arrays:birds", "idx:birds", "cifar:birds"}) {
    EXPECT_THAT(error_of([&] { refuse_idle_dir(name, "/data"); }),
                HasSubstr("--data would do nothing beside"))
        << name;
    EXPECT_EQ(error_of([&] { refuse_idle_dir(name, ""); }), "") << name;
  }
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

TEST(Registry, OfPublishedDataTheWholeOrEveryFileHasAChecksum) {
  for (const PublishedData& published : published_data()) {
    if (published.hash.size() == 64) continue;
    std::map<std::string, std::string> known(published.checksums.begin(), published.checksums.end());
    for (const FormFiles& form : published_files(published)) {
      for (const std::string& name : form.names) {
        if (name.starts_with("batches.meta")) continue;  // the names of the classes
        EXPECT_TRUE(known[name].size() == 32 || known[name].size() == 40) << published.name << ": " << name;
      }
    }
  }
}

TEST(Registry, AChangedByteOfABinaryFileOfCifar10IsAWrongChecksum) {
  const TempFolder folder;
  const fs::path path = folder / "cifar-10-batches-bin";
  write_file(path / "batches.meta.txt", "cat\ndog\n");
  // Records: the label, then 3072 bytes of pixels.
  const Bytes pixels(3072, 7);
  PublishedData published = *find_published("cifar10");
  published.train_counts = {5, 5};
  published.test_counts = {1, 1};
  for (auto& [name, checksum] : published.checksums) {
    if (!name.ends_with(".bin")) continue;
    Bytes records;
    for (const std::uint8_t label : {0, 1}) {
      records.push_back(label);
      records.insert(records.end(), pixels.begin(), pixels.end());
    }
    write_file(path / name, records);
    checksum = base::sha1(std::as_bytes(std::span(records)));
  }
  EXPECT_EQ(load_published(published, path).train.size(), 10);
  for (const char* name : {"data_batch_3.bin", "test_batch.bin"}) {
    Bytes bytes = base::read_bytes(path / name);
    const Bytes sound = bytes;
    bytes[1000] ^= 1;
    write_file(path / name, bytes);
    EXPECT_THAT(error_of([&] { load_published(published, path); }),
                HasSubstr(fmt::format("the SHA-1 checksum of `{}` is", name)));
    write_file(path / name, sound);
  }
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
