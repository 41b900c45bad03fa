#include "longtail/data/pickle.h"

#include "longtail/data/testing.h"

namespace longtail::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string small_pickle() {
  return pickled_dict({{"names", pickled_list<std::string>({"apple", "bear"})},
                       {"labels", pickled_list<std::int32_t>({0, 255, 70000, -1})},
                       {"data", pickled_matrix(2, 3, "abcdef")}});
}

std::string refusal(std::string_view pickle) {
  const Bytes bytes = to_bytes(pickle);
  return error_of([&] { Pickle(bytes, "some/file"); });
}

TEST(Pickle, ReadsListsOfStringsAndIntegersAndAByteMatrix) {
  const Bytes bytes = to_bytes(small_pickle());
  const Pickle pickle(bytes, "file");
  EXPECT_THAT(pickle.strings("names"), ElementsAre("apple", "bear"));
  EXPECT_THAT(pickle.integers("labels"), ElementsAre(0, 255, 70000, -1));
  const Pickle::Matrix matrix = pickle.byte_matrix("data");
  EXPECT_EQ(matrix.rows, 2U);
  EXPECT_EQ(matrix.columns, 3U);
  EXPECT_FALSE(matrix.column_major);
  EXPECT_EQ(std::string(matrix.bytes.begin(), matrix.bytes.end()), "abcdef");
  EXPECT_TRUE(pickle.has("data"));
  EXPECT_FALSE(pickle.has("filenames"));
}

TEST(Pickle, DoesNotMindTheOrderOfTheKeys) {
  const Bytes bytes = to_bytes(pickled_dict({{"data", pickled_matrix(1, 2, "xy")},
                                             {"z", pickled(5)},
                                             {"labels", pickled_list<std::int32_t>({3})}}));
  const Pickle pickle(bytes, "file");
  EXPECT_THAT(pickle.integers("labels"), ElementsAre(3));
  EXPECT_EQ(pickle.byte_matrix("data").columns, 2U);
}

TEST(Pickle, FollowsTheMemo) {
  // {'a': ['x'], 'b': the same list}
  const Bytes bytes =
      to_bytes(std::string("\x80\x02}q\x00(U\x01"
                           "a]q\x01U\x01xaU\x01"
                           "bh\x01u.",
                           23));
  EXPECT_THAT(Pickle(bytes, "file").strings("b"), ElementsAre("x"));
}

TEST(Pickle, RefusesEveryTruncation) {
  const std::string whole = small_pickle();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(refusal(whole.substr(0, size)), HasSubstr("some/file")) << "cut at " << size;
  }
}

TEST(Pickle, NeverCrashesOnAChangedByte) {
  const std::string whole = small_pickle();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {1, 0x20, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ change);
      const Bytes bytes = to_bytes(changed);
      error_of([&] {
        const Pickle pickle(bytes, "file");
        pickle.strings("names");
        pickle.integers("labels");
        pickle.byte_matrix("data");
      });
    }
  }
}

TEST(Pickle, RefusesToNameCode) {
  EXPECT_THAT(refusal("\x80\x02"
                      "cos\nsystem\n(U\x02lstR."),
              HasSubstr("names code that no CIFAR file names at byte 2"));
}

TEST(Pickle, RefusesOperationsNoCifarFileUses) {
  EXPECT_THAT(refusal("\x80\x02I1\n."), HasSubstr("uses an operation that no CIFAR file uses at byte 2"));
  EXPECT_THAT(refusal(std::string("\x80\x04}.")), HasSubstr("not a Python pickle of protocol 2"));
  EXPECT_THAT(refusal("plain text"), HasSubstr("not a Python pickle of protocol 2"));
}

TEST(Pickle, RefusesWhatDoesNotAddUp) {
  EXPECT_THAT(refusal("\x80\x02}.x"), HasSubstr("1 bytes follow the end of the pickle"));
  EXPECT_THAT(refusal("\x80\x02."), HasSubstr("leaves other than one value"));
  EXPECT_THAT(refusal("\x80\x02]."), HasSubstr("holds no dictionary"));
  EXPECT_THAT(refusal("\x80\x02}e."), HasSubstr("closes what it did not open"));
  EXPECT_THAT(refusal("\x80\x02}(K\x01u."), HasSubstr("key without a value"));
  EXPECT_THAT(refusal("\x80\x02}(a."), HasSubstr("takes a value that is not there"));
  EXPECT_THAT(refusal("\x80\x02}K\x01"
                      "a."),
              HasSubstr("wrong kind"));
  EXPECT_THAT(refusal("\x80\x02}h\x05."), HasSubstr("refers to a value that is not there"));
  EXPECT_THAT(refusal("\x80\x02}r\xff\xff\xff\x7f."), HasSubstr("numbers its values out of order"));
}

TEST(Pickle, SaysWhichValueIsMissingOrOfAnotherKind) {
  const Bytes bytes = to_bytes(pickled_dict({{"labels", pickled_list<std::string>({"a"})},
                                             {"data", pickled_matrix(2, 2, "abc")},
                                             {"list", pickled_list<std::int32_t>({1})}}));
  const Pickle pickle(bytes, "file");
  EXPECT_EQ(error_of([&] { pickle.integers("labels"); }), "file: `labels` is not a list of integers");
  EXPECT_EQ(error_of([&] { pickle.strings("list"); }), "file: `list` is not a list of strings");
  EXPECT_THAT(error_of([&] { pickle.strings("gone"); }), HasSubstr("there is no `gone` in it"));
  EXPECT_THAT(error_of([&] { pickle.byte_matrix("list"); }), HasSubstr("not a NumPy array"));
  EXPECT_THAT(error_of([&] { pickle.byte_matrix("data"); }), HasSubstr("shape agrees with its bytes"));
}

}  // namespace
}  // namespace longtail::data
