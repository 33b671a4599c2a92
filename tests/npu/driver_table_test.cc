#include "npu/driver_table.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "npu/host_driver.h"
#include "npu/sim_driver.h"

namespace takt::npu {
namespace {

using testing::HasSubstr;

std::string Refusal(const std::function<void(takt_npu_driver_t*)>& change) {
  takt_npu_driver_t table = *HostDriver();
  change(&table);
  const absl::Status status = CheckDriver(&table).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

TEST(DriverTableTest, TakesTheBuiltInOnes) {
  EXPECT_TRUE(CheckDriver(HostDriver()).ok());
  EXPECT_TRUE(CheckDriver(SimDriver()).ok());
}

TEST(DriverTableTest, RefusesTablesThatAreNotWhole) {
  EXPECT_FALSE(CheckDriver(nullptr).ok());
  using T = takt_npu_driver_t;
  EXPECT_THAT(Refusal([](T* t) { t->struct_size = 0; }), HasSubstr("0 bytes"));
  EXPECT_THAT(
      Refusal([](T* t) { t->struct_size = offsetof(T, telemetry) - 1; }),
      HasSubstr("bytes, expected"));
  EXPECT_THAT(Refusal([](T* t) { t->version = 2; }),
              HasSubstr("version 2, expected 1"));
  EXPECT_THAT(Refusal([](T* t) { t->name = nullptr; }), HasSubstr("no name"));
  EXPECT_THAT(Refusal([](T* t) { t->open = nullptr; }),
              HasSubstr("open is NULL"));
  EXPECT_THAT(Refusal([](T* t) { t->submit = nullptr; }),
              HasSubstr("submit is NULL"));
  EXPECT_THAT(Refusal([](T* t) { t->reset = nullptr; }),
              HasSubstr("reset is NULL"));
  EXPECT_THAT(Refusal([](T* t) { t->unload_program = nullptr; }),
              HasSubstr("without unload_program"));
}

TEST(DriverTableTest, FunctionsBeyondTheTablesSizeDoNotExist) {
  takt_npu_driver_t table = *HostDriver();
  table.struct_size = offsetof(takt_npu_driver_t, telemetry);
  auto driver = CheckDriver(&table);
  ASSERT_TRUE(driver.ok());
  EXPECT_EQ(driver->find_import, nullptr);
  EXPECT_EQ(driver->load_program, nullptr);
}

std::string CapabilityError(
    takt_npu_result_t (*query)(void*, takt_npu_capabilities_t*)) {
  takt_npu_driver_t table = *HostDriver();
  table.query = query;
  auto capabilities = QueryCapabilities(table, nullptr);
  EXPECT_FALSE(capabilities.ok());
  return std::string(capabilities.status().message());
}

TEST(DriverTableTest, RefusesCapabilitiesThatMakeNoSense) {
  using C = takt_npu_capabilities_t;
  EXPECT_THAT(CapabilityError([](void*, C* out) {
                out->flags = TAKT_NPU_HOST_MEMORY;
                out->alignment = 48;
                return TAKT_NPU_RESULT_OK;
              }),
              HasSubstr("48 is no power of two"));
  EXPECT_THAT(CapabilityError([](void*, C* out) {
                out->flags = TAKT_NPU_HOST_MEMORY;
                out->tile_max[1] = 4;
                out->tile_multiple[1] = 8;
                return TAKT_NPU_RESULT_OK;
              }),
              HasSubstr("at most 4 in multiples of 8"));
  EXPECT_THAT(CapabilityError([](void*, C*) { return TAKT_NPU_RESULT_OK; }),
              HasSubstr("neither host memory"));
  EXPECT_THAT(CapabilityError([](void*, C*) { return TAKT_NPU_RESULT_LOST; }),
              HasSubstr("query: LOST"));
}

TEST(DriverTableTest, EndsNamesThatDoNotEnd) {
  takt_npu_driver_t table = *HostDriver();
  table.query = [](void*, takt_npu_capabilities_t* out) {
    std::memset(out->name, 'x', sizeof(out->name));
    out->flags = TAKT_NPU_HOST_MEMORY;
    return TAKT_NPU_RESULT_OK;
  };
  auto capabilities = QueryCapabilities(table, nullptr);
  ASSERT_TRUE(capabilities.ok());
  EXPECT_EQ(std::strlen(capabilities->name), sizeof(capabilities->name) - 1);
}

TEST(DriverTableTest, ResultsHaveNamesAndCodes) {
  EXPECT_STREQ(ResultName(TAKT_NPU_RESULT_CORRUPTED), "CORRUPTED");
  EXPECT_STREQ(ResultName(static_cast<takt_npu_result_t>(99)), "?");
  EXPECT_TRUE(ResultStatus(TAKT_NPU_RESULT_OK, "x").ok());
  EXPECT_EQ(ResultStatus(TAKT_NPU_RESULT_LOST, "x").code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(ResultStatus(TAKT_NPU_RESULT_CORRUPTED, "x").message(),
            "x: CORRUPTED (the checksum of a transfer was wrong)");
}

// The loader itself would look for a bare name in its own folders only.
TEST(DriverTableTest, ABareNameIsAFileOfTheCurrentDirectory) {
  void* const math = dlopen("libm.so.6", RTLD_NOW);
  ASSERT_NE(math, nullptr);
  link_map* map = nullptr;
  ASSERT_EQ(dlinfo(math, RTLD_DI_LINKMAP, &map), 0);
  const std::filesystem::path before = std::filesystem::current_path();
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "takt_driver_table_test";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(std::filesystem::canonical(map->l_name),
                             folder / "no_driver_here.so",
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::current_path(folder);
  const auto found = DriverLibrary::Load("no_driver_here.so");
  const auto missing = DriverLibrary::Load("nothing_here.so");
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
  dlclose(math);
  EXPECT_THAT(std::string(found.status().message()),
              HasSubstr("no_driver_here.so exports no takt_npu_driver_query"));
  EXPECT_THAT(std::string(missing.status().message()),
              HasSubstr("nothing_here.so: cannot open"));
}

TEST(DriverTableTest, LoadsOnlySharedObjectsWithADriver) {
  auto missing = DriverLibrary::Load("/no/such/driver.so");
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  auto bare = DriverLibrary::Load("no_such_driver.so");
  EXPECT_THAT(std::string(bare.status().message()),
              HasSubstr("a file of this folder is written with \"./\""));
  auto other = DriverLibrary::Load("libm.so.6");
  EXPECT_EQ(other.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(other.status().message()),
              HasSubstr("exports no takt_npu_driver_query"));
}

}  // namespace
}  // namespace takt::npu
