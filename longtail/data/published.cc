#include "longtail/data/published.h"

#include "longtail/data/cifar.h"

namespace longtail::data {
namespace {

std::vector<std::int64_t> each(int classes, std::int64_t images) {
  return std::vector<std::int64_t>(static_cast<std::size_t>(classes), images);
}

PublishedData cifar10() {
  PublishedData data;
  data.name = "cifar10";
  data.title = "CIFAR-10: 10 classes of 32x32 colour photographs";
  data.address = "https://www.cs.toronto.edu/~kriz/";
  data.remote = {{"cifar-10-python.tar.gz", 170498071, "c58f30108f718f92721af3b95e74349a"}};
  data.places = {"cifar-10-batches-py", "cifar-10-batches-bin", "."};
  data.mean = {0.4914F, 0.4822F, 0.4465F};
  // Over all pixels, as for CIFAR-100; the common (0.2023, 0.1994, 0.2010) is the mean of the deviations of
  // the single images.
  data.deviation = {0.2470F, 0.2435F, 0.2616F};
  data.train_counts = each(10, 5000);
  data.test_counts = each(10, 1000);
  data.checksums = {{"data_batch_1", "c99cafc152244af753f735de768cd75f"},
                    {"data_batch_2", "d4bba439e000b95fd0a9bffe97cbabec"},
                    {"data_batch_3", "54ebc095f3ab1f0389bbae665268c751"},
                    {"data_batch_4", "634d18415352ddfa80567beed471001a"},
                    {"data_batch_5", "482c414d41f54cd18b22e5b47cb7c3cb"},
                    {"test_batch", "40351d587109b95175f43aff81a1287e"},
                    // The binary form: SHA-1, as Apache MXNet's gluon.data.vision.CIFAR10 checks them. (Its
                    // hashes of CIFAR-100 are those of the published pickles written as records.)
                    {"data_batch_1.bin", "aadd24acce27caa71bf4b10992e9e7b2d74c2540"},
                    {"data_batch_2.bin", "c0ba65cce70568cd57b4e03e9ac8d2a5367c1795"},
                    {"data_batch_3.bin", "1dd00a74ab1d17a6e7d73e185b69dbf31242f295"},
                    {"data_batch_4.bin", "aab85764eb3584312d3c7f65fd2fd016e36a258e"},
                    {"data_batch_5.bin", "26e2849e66a845b7f1e4614ae70f4889ae604628"},
                    {"test_batch.bin", "67eb016db431130d61cd03c7ad570b013799c88c"}};
  return data;
}

PublishedData cifar100() {
  PublishedData data;
  data.name = "cifar100";
  data.title = "CIFAR-100: 100 classes of 32x32 colour photographs";
  data.address = "https://www.cs.toronto.edu/~kriz/";
  data.remote = {{"cifar-100-python.tar.gz", 169001437, "eb9058c3a382ffc7106e4002c42a8d85"}};
  data.places = {"cifar-100-python", "cifar-100-binary", "."};
  data.mean = {0.5071F, 0.4867F, 0.4408F};
  data.deviation = {0.2675F, 0.2565F, 0.2761F};
  data.train_counts = each(100, 500);
  data.test_counts = each(100, 100);
  data.hash = "45274241865d6bfa94c710177175bf01f4d797ed9050e9931a77af8f3cd7b569";
  return data;
}

PublishedData mnist() {
  PublishedData data;
  data.name = "mnist";
  data.title = "MNIST: handwritten digits, 28x28 grey, padded to 32x32";
  data.address = "https://ossci-datasets.s3.amazonaws.com/mnist/";
  data.remote = {{"train-images-idx3-ubyte.gz", 9912422, "f68b3c2dcbeaaa9fbdd348bbdeb94873"},
                 {"train-labels-idx1-ubyte.gz", 28881, "d53e105ee54ea40749a09fcbcd1e9432"},
                 {"t10k-images-idx3-ubyte.gz", 1648877, "9fb629c4189551a2d022fa330f9573f3"},
                 {"t10k-labels-idx1-ubyte.gz", 4542, "ec29112dd5afa0611ce80d1b7f02629c"}};
  data.places = {"mnist", "MNIST/raw", "MNIST", "."};
  data.idx = true;
  data.channels = 1;
  // Of the 28x28 images, before padding: the values in common use.
  data.mean = {0.1307F, 0, 0};
  data.deviation = {0.3081F, 0, 0};
  data.class_names = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  data.train_counts = {5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949};
  data.test_counts = {980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009};
  for (const RemoteFile& file : data.remote) data.checksums.emplace_back(file.name, file.md5);
  // Unpacked, as torchvision leaves them.
  data.checksums.insert(data.checksums.end(),
                        {{"train-images-idx3-ubyte", "6bbc9ace898e44ae57da46a324031adb"},
                         {"train-labels-idx1-ubyte", "a25bea736e30d166cdddb491f175f624"},
                         {"t10k-images-idx3-ubyte", "2646ac647ad5339dbf082846283269ea"},
                         {"t10k-labels-idx1-ubyte", "27ae3e4e09519cfbb04c329615203637"}});
  return data;
}

PublishedData fashion_mnist() {
  PublishedData data;
  data.name = "fashion_mnist";
  data.title = "Fashion-MNIST: articles of clothing, 28x28 grey, padded to 32x32";
  data.address = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/";
  data.remote = {{"train-images-idx3-ubyte.gz", 26421880, "8d4fb7e6c68d591d4c3dfef9ec88bf0d"},
                 {"train-labels-idx1-ubyte.gz", 29515, "25c81989df183df01b3e8a0aad5dffbe"},
                 {"t10k-images-idx3-ubyte.gz", 4422102, "bef4ecab320f06d8554ea6380940ec79"},
                 {"t10k-labels-idx1-ubyte.gz", 5148, "bb300cfdad3c16e7a12a480ee83cd310"}};
  data.places = {"fashion-mnist", "fashion_mnist", "FashionMNIST/raw", "FashionMNIST", "."};
  data.idx = true;
  data.channels = 1;
  data.mean = {0.2860F, 0, 0};
  data.deviation = {0.3530F, 0, 0};
  data.class_names = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                      "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
  data.train_counts = each(10, 6000);
  data.test_counts = each(10, 1000);
  data.hash = "a5db51038700ae309bac62a9e317a56b86c75d693343bc33777e9e313d830c61";
  return data;
}

}  // namespace

std::span<const PublishedData> published_data() {
  static const std::vector<PublishedData> all = {cifar10(), cifar100(), fashion_mnist(), mnist()};
  return all;
}

const PublishedData* find_published(std::string_view name) {
  for (const PublishedData& data : published_data()) {
    if (data.name == name) return &data;
  }
  return nullptr;
}

std::vector<std::string> published_names() {
  std::vector<std::string> names;
  for (const PublishedData& data : published_data()) names.push_back(data.name);
  return names;
}

}  // namespace longtail::data
