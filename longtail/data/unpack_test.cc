#include "longtail/data/unpack.h"

#include <sys/stat.h>

#include "longtail/data/testing.h"

namespace longtail::data {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

struct Unpack : testing::Test {
  TempFolder folder;
  fs::path archive = folder / "a.tar.gz";
  fs::path inside = folder / "deep/inside";

  std::string fault(const std::vector<ArchiveItem>& items) {
    write_tar_gz(archive, items);
    return error_of([&] { unpack(archive, inside); });
  }
};

TEST_F(Unpack, FilesAndFoldersCome) {
  write_tar_gz(archive, {{"./a/b.txt", "hello", "", ""}, {"c", "", "", ""}});
  unpack(archive, inside);
  EXPECT_THAT(contents(inside), ElementsAre("a", "a/b.txt", "c"));
  EXPECT_EQ(base::read_text(inside / "a/b.txt"), "hello");
}

TEST_F(Unpack, NoPathLeavesTheFolder) {
  EXPECT_THAT(fault({{"../evil", "x", "", ""}}), HasSubstr("`../evil`, which would leave the folder"));
  EXPECT_THAT(fault({{"a/../../evil", "x", "", ""}}), HasSubstr("would leave the folder"));
  EXPECT_THAT(fault({{(folder / "evil").string(), "x", "", ""}}), HasSubstr("would leave the folder"));
  EXPECT_FALSE(fs::exists(folder / "evil"));
  EXPECT_FALSE(fs::exists(folder / "deep/evil"));
}

TEST_F(Unpack, LinksAreRefused) {
  EXPECT_THAT(fault({{"link", "", "/etc", ""}, {"link/evil", "x", "", ""}}), HasSubstr("`link` is a link"));
  EXPECT_THAT(fault({{"hard", "", "", "/etc/passwd"}}), HasSubstr("`hard` is a link"));
}

TEST_F(Unpack, AFileTwiceIsRefusedRatherThanOverwritten) {
  EXPECT_THAT(fault({{"a", "1", "", ""}, {"a", "2", "", ""}}), HasSubstr("File exists"));
}

TEST_F(Unpack, ATruncatedArchiveIsAnError) {
  std::string noise;  // does not compress, so that half of it is far from the end
  for (std::uint32_t i = 0, x = 1; i < 300000; ++i)
    noise += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  write_tar_gz(archive, {{"a", noise, "", ""}});
  fs::resize_file(archive, fs::file_size(archive) / 2);
  EXPECT_THAT(error_of([&] { unpack(archive, inside); }), HasSubstr("truncated or damaged"));
}

TEST_F(Unpack, WhatIsNoArchiveIsAnError) {
  write_file(archive, "certainly no archive, this");
  EXPECT_THAT(error_of([&] { unpack(archive, inside); }), HasSubstr("a.tar.gz"));
  EXPECT_THAT(error_of([&] { unpack(folder / "gone", inside); }), HasSubstr("gone"));
}

TEST_F(Unpack, AnArchiveOfTooManyFilesIsRefused) {
  ::archive* writer = archive_write_new();
  archive_write_add_filter_gzip(writer);
  archive_write_set_format_pax_restricted(writer);
  archive_write_open_filename(writer, archive.c_str());
  for (int i = 0; i < 200000; ++i) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, "folder");
    archive_entry_set_filetype(entry, AE_IFDIR);
    archive_entry_set_perm(entry, 0755);
    archive_write_header(writer, entry);
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
  EXPECT_THAT(error_of([&] { unpack(archive, inside); }), HasSubstr("holds more than 10000 files"));
}

TEST_F(Unpack, AFifoIsRefusedAndNotWaitedFor) {
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(error_of([&] { unpack(folder / "fifo", inside); }), HasSubstr("not a regular file"));
}

TEST_F(Unpack, StopsWhenAsked) {
  write_tar_gz(archive, {{"a", "x", "", ""}});
  EXPECT_THROW(unpack(archive, inside, [] { return true; }), base::Interrupted);
}

}  // namespace
}  // namespace longtail::data
