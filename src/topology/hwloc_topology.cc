#include "topology/hwloc_topology.h"

#include <dlfcn.h>
#include <hwloc.h>

#include <map>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace takt::topology {
namespace {

// The functions of hwloc that are used, by their own names.
struct Hwloc {
  void* library = nullptr;
#define TAKT_HWLOC(name) decltype(&::hwloc_##name) name = nullptr
  TAKT_HWLOC(topology_init);
  TAKT_HWLOC(topology_destroy);
  TAKT_HWLOC(topology_load);
  TAKT_HWLOC(topology_set_all_types_filter);
  TAKT_HWLOC(topology_set_type_filter);
  TAKT_HWLOC(get_type_depth);
  TAKT_HWLOC(get_obj_by_depth);
  TAKT_HWLOC(get_nbobjs_by_depth);
  TAKT_HWLOC(bitmap_isset);
  TAKT_HWLOC(cpukinds_get_by_cpuset);
#undef TAKT_HWLOC

  bool Open() {
    library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    const auto find = [this](auto* function, const char* name) {
      *function = reinterpret_cast<std::decay_t<decltype(*function)>>(
          dlsym(library, name));
      return *function != nullptr;
    };
    return find(&topology_init, "hwloc_topology_init") &&
           find(&topology_destroy, "hwloc_topology_destroy") &&
           find(&topology_load, "hwloc_topology_load") &&
           find(&topology_set_all_types_filter,
                "hwloc_topology_set_all_types_filter") &&
           find(&topology_set_type_filter, "hwloc_topology_set_type_filter") &&
           find(&get_type_depth, "hwloc_get_type_depth") &&
           find(&get_obj_by_depth, "hwloc_get_obj_by_depth") &&
           find(&get_nbobjs_by_depth, "hwloc_get_nbobjs_by_depth") &&
           find(&bitmap_isset, "hwloc_bitmap_isset") &&
           find(&cpukinds_get_by_cpuset, "hwloc_cpukinds_get_by_cpuset");
  }
  ~Hwloc() {
    if (library != nullptr) dlclose(library);
  }
};

// Index of the ancestor (or self) of `type`, 0 if there is none.
uint32_t AncestorIndex(hwloc_obj_t object, hwloc_obj_type_t type) {
  for (; object != nullptr; object = object->parent) {
    if (object->type == type) return object->logical_index;
  }
  return 0;
}

// The outermost shared cache below the machine, or the package: what makes
// CPUs neighbours.
hwloc_obj_t ClusterOf(hwloc_obj_t pu) {
  for (const hwloc_obj_type_t type :
       {HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_PACKAGE}) {
    for (hwloc_obj_t o = pu; o != nullptr; o = o->parent) {
      if (o->type == type && (type != HWLOC_OBJ_L2CACHE || o->arity > 1)) {
        return o;
      }
    }
  }
  return nullptr;
}

bool Load(const Hwloc& hwloc, hwloc_topology_t topology) {
  hwloc.topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_CORE,
                                      HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE}) {
    hwloc.topology_set_type_filter(topology, type, HWLOC_TYPE_FILTER_KEEP_ALL);
  }
  return hwloc.topology_load(topology) == 0;
}

uint32_t NumaNodeOf(const Hwloc& hwloc, hwloc_topology_t topology,
                    uint32_t cpu) {
  const int depth = hwloc.get_type_depth(topology, HWLOC_OBJ_NUMANODE);
  const unsigned count = hwloc.get_nbobjs_by_depth(topology, depth);
  for (unsigned i = 0; i < count; ++i) {
    hwloc_obj_t node = hwloc.get_obj_by_depth(topology, depth, i);
    if (hwloc.bitmap_isset(node->cpuset, cpu)) return node->os_index;
  }
  return 0;
}

void Read(const Hwloc& hwloc, hwloc_topology_t source, const CpuSet& usable,
          Topology* result) {
  const int depth = hwloc.get_type_depth(source, HWLOC_OBJ_PU);
  const unsigned count = hwloc.get_nbobjs_by_depth(source, depth);
  std::map<hwloc_obj_t, uint32_t> cluster_index;
  std::map<uint32_t, uint32_t> threads_of_core;
  for (unsigned i = 0; i < count; ++i) {
    hwloc_obj_t pu = hwloc.get_obj_by_depth(source, depth, i);
    if (pu->os_index >= CpuSet::kMaxCpus || !usable.Contains(pu->os_index)) {
      continue;
    }
    hwloc_obj_t shared = ClusterOf(pu);
    const auto [entry, is_new] = cluster_index.try_emplace(
        shared, static_cast<uint32_t>(result->clusters.size()));
    if (is_new) {
      Cluster cluster;
      cluster.name = absl::StrCat("cluster", entry->second);
      const int kind = hwloc.cpukinds_get_by_cpuset(source, pu->cpuset, 0);
      cluster.efficiency_kind = kind > 0 ? static_cast<uint32_t>(kind) : 0;
      result->clusters.push_back(std::move(cluster));
    }
    result->clusters[entry->second].cpus.Add(pu->os_index);
    const uint32_t core = AncestorIndex(pu, HWLOC_OBJ_CORE);
    result->cpus.push_back({pu->os_index, core, entry->second,
                            NumaNodeOf(hwloc, source, pu->os_index),
                            AncestorIndex(pu, HWLOC_OBJ_PACKAGE),
                            threads_of_core[core]++});
  }
}

}  // namespace

Topology ReadHwloc(const CpuSet& usable) {
  Topology result;
  Hwloc hwloc;
  hwloc_topology_t source = nullptr;
  if (hwloc.Open() && hwloc.topology_init(&source) == 0) {
    if (Load(hwloc, source)) Read(hwloc, source, usable, &result);
    hwloc.topology_destroy(source);
  }
  return result;
}

}  // namespace takt::topology
