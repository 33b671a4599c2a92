#include "tensors.h"

#include <nanobind/stl/string.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "errors.h"
#include "handle.h"

namespace nb = nanobind;

namespace takt::python {
namespace {

// Below this many bytes a copy takes less time than keeping the caller's array.
constexpr size_t kCopyBytesMax = 4096;

struct DtypeRow {
  takt_element_type_t type;
  const char* name;    // As numpy has it, or ml_dtypes.
  const char* format;  // Of the buffer protocol; nullptr: it has none.
  bool is_extension;   // From ml_dtypes.
};

// The first row of a format is what an array of that format is taken for.
constexpr DtypeRow kDtypes[] = {
    {TAKT_ELEMENT_F32, "float32", "f", false},
    {TAKT_ELEMENT_F64, "float64", "d", false},
    {TAKT_ELEMENT_F16, "float16", "e", false},
    {TAKT_ELEMENT_SI8, "int8", "b", false},
    {TAKT_ELEMENT_UI8, "uint8", "B", false},
    {TAKT_ELEMENT_SI16, "int16", "h", false},
    {TAKT_ELEMENT_UI16, "uint16", "H", false},
    {TAKT_ELEMENT_SI32, "int32", "i", false},
    {TAKT_ELEMENT_UI32, "uint32", "I", false},
    {TAKT_ELEMENT_SI64, "int64", "l", false},
    {TAKT_ELEMENT_UI64, "uint64", "L", false},
    {TAKT_ELEMENT_SI64, "int64", "q", false},
    {TAKT_ELEMENT_UI64, "uint64", "Q", false},
    {TAKT_ELEMENT_BOOL, "bool", "?", false},
    {TAKT_ELEMENT_CF64, "complex64", "Zf", false},
    {TAKT_ELEMENT_CF128, "complex128", "Zd", false},
    {TAKT_ELEMENT_I8, "int8", nullptr, false},
    {TAKT_ELEMENT_I16, "int16", nullptr, false},
    {TAKT_ELEMENT_I32, "int32", nullptr, false},
    {TAKT_ELEMENT_I64, "int64", nullptr, false},
    {TAKT_ELEMENT_OPAQUE_8, "uint8", nullptr, false},
    {TAKT_ELEMENT_OPAQUE_16, "uint16", nullptr, false},
    {TAKT_ELEMENT_OPAQUE_32, "uint32", nullptr, false},
    {TAKT_ELEMENT_OPAQUE_64, "uint64", nullptr, false},
    {TAKT_ELEMENT_BF16, "bfloat16", nullptr, true},
    {TAKT_ELEMENT_F8E5M2, "float8_e5m2", nullptr, true},
    {TAKT_ELEMENT_F8E4M3FN, "float8_e4m3fn", nullptr, true},
    {TAKT_ELEMENT_F8E5M2FNUZ, "float8_e5m2fnuz", nullptr, true},
    {TAKT_ELEMENT_F8E4M3FNUZ, "float8_e4m3fnuz", nullptr, true},
    {TAKT_ELEMENT_F8E8M0FNU, "float8_e8m0fnu", nullptr, true},
};
constexpr size_t kDtypeCount = std::size(kDtypes);

const DtypeRow* FindRow(takt_element_type_t type) {
  for (const DtypeRow& row : kDtypes) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

// The objects of numpy that conversions need. Made once, and never destroyed:
// the interpreter may be gone before static objects are.
struct Numpy {
  nb::object ndarray;
  nb::object asarray;
  nb::object from_dlpack;
  nb::object dtype;
  nb::object dtypes[kDtypeCount];  // None: there is none here.
};

std::unique_ptr<Numpy> MakeNumpy() {
  auto made = std::make_unique<Numpy>();
  nb::module_ module = nb::module_::import_("numpy");
  made->ndarray = module.attr("ndarray");
  made->asarray = module.attr("asarray");
  made->from_dlpack = module.attr("from_dlpack");
  made->dtype = module.attr("dtype");
  nb::object extension = nb::none();
  try {
    extension = nb::module_::import_("ml_dtypes");
  } catch (nb::python_error&) {  // It is not installed.
  }
  for (size_t i = 0; i < kDtypeCount; ++i) {
    const DtypeRow& row = kDtypes[i];
    if (!row.is_extension) {
      made->dtypes[i] = made->dtype(row.name);
    } else if (nb::hasattr(extension, row.name)) {
      made->dtypes[i] = made->dtype(extension.attr(row.name));
    } else {
      // Its bits: an unsigned integer of that size.
      made->dtypes[i] = made->dtype(
          takt_element_type_bit_count(row.type) == 8 ? "uint8" : "uint16");
    }
  }
  return made;
}

// Imports give the lock of the interpreter up, so two threads may come here at
// the same time. The first one's objects are used.
const Numpy& GetNumpy() {
  static std::atomic<const Numpy*> numpy = nullptr;
  const Numpy* found = numpy.load(std::memory_order_acquire);
  if (found != nullptr) return *found;
  std::unique_ptr<const Numpy> made = MakeNumpy();
  if (numpy.compare_exchange_strong(found, made.get(),
                                    std::memory_order_acq_rel)) {
    found = made.release();
  }
  return *found;
}

nb::object DtypeOf(takt_element_type_t type) {
  const DtypeRow* row = FindRow(type);
  if (row == nullptr) {
    char text[TAKT_ELEMENT_TYPE_TEXT_MAX];
    RaiseInvalidArgument(std::string("numpy has no elements such as ") +
                         takt_element_type_format(type, text));
  }
  return GetNumpy().dtypes[row - kDtypes];
}

// Memory that arrays of Python share with the runtime: arguments that a call
// uses where they lie, and results. Is used with the GIL.
class SharedMemory {
 public:
  SharedMemory(const void* data, size_t byte_length)
      : range_(Ranges().emplace(Address(data), Address(data) + byte_length)) {}
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { Ranges().erase(range_); }

  // Whether some array has the memory at `data`.
  static bool Has(const void* data) {
    const auto next = Ranges().upper_bound(Address(data));
    return next != Ranges().begin() && Address(data) < std::prev(next)->second;
  }

 private:
  using Map = std::multimap<uintptr_t, uintptr_t>;  // Ends by begins.

  static uintptr_t Address(const void* data) {
    return reinterpret_cast<uintptr_t>(data);
  }
  static Map& Ranges() {
    static Map* const ranges = new Map;  // Arrays may outlive statics.
    return *ranges;
  }

  Map::iterator range_;
};

// A buffer of the buffer protocol. Is made and destroyed with the GIL.
class HostBuffer {
 public:
  HostBuffer() = default;
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  ~HostBuffer() {
    if (view_.obj != nullptr) PyBuffer_Release(&view_);
  }
  // False: `object` offers no dense buffer, and no error is set.
  bool Get(nb::handle object) {
    constexpr int kFlags = PyBUF_FORMAT | PyBUF_ND | PyBUF_C_CONTIGUOUS;
    if (PyObject_CheckBuffer(object.ptr()) == 0) return false;
    if (PyObject_GetBuffer(object.ptr(), &view_, kFlags) == 0) return true;
    PyErr_Clear();
    return false;
  }
  const Py_buffer& view() const { return view_; }
  // The runtime uses the buffer where it lies.
  void Share() { shared_.emplace(view_.buf, static_cast<size_t>(view_.len)); }

  // For any thread, with or without the GIL: the runtime may hold a lock when
  // it lets go of memory, so waiting for the GIL there could deadlock. The
  // interpreter destroys the buffer soon, on its main thread.
  static void ReleaseLater(void* user_data) {
    auto* buffer = static_cast<HostBuffer*>(user_data);
    HostBuffer* head = released_.load(std::memory_order_relaxed);
    do {
      buffer->next_ = head;
    } while (!released_.compare_exchange_weak(
        head, buffer, std::memory_order_release, std::memory_order_relaxed));
    // If the interpreter's queue is full, a call of ours destroys it.
    if (head == nullptr) (void)Py_AddPendingCall(&DestroyReleased, nullptr);
  }
  // Destroys what was released. Needs the GIL.
  static int DestroyReleased(void* = nullptr) {
    if (released_.load(std::memory_order_relaxed) == nullptr) return 0;
    HostBuffer* buffer = released_.exchange(nullptr, std::memory_order_acquire);
    while (buffer != nullptr) delete std::exchange(buffer, buffer->next_);
    return 0;
  }

 private:
  static inline std::atomic<HostBuffer*> released_ = nullptr;

  Py_buffer view_ = {};
  std::optional<SharedMemory> shared_;
  HostBuffer* next_ = nullptr;  // In the list of those that were released.
};

// 0: no element type has that format.
takt_element_type_t TypeOfFormat(const char* format, Py_ssize_t item_bytes) {
  if (format == nullptr) return TAKT_ELEMENT_UI8;
  if (format[0] == '@' || format[0] == '=' || format[0] == '<') ++format;
  for (const DtypeRow& row : kDtypes) {
    if (row.format == nullptr || std::strcmp(row.format, format) != 0) continue;
    // "<l" has four bytes, and "l" has eight.
    const uint32_t bits = takt_element_type_bit_count(row.type);
    if (bits == 8 * static_cast<size_t>(item_bytes)) return row.type;
  }
  return 0;
}

takt_value_t ViewOf(std::unique_ptr<HostBuffer> host, takt_element_type_t type,
                    takt_device_t* device, Lending lending) {
  const Py_buffer& view = host->view();
  const size_t rank = static_cast<size_t>(view.ndim);
  std::vector<int64_t> shape(view.shape, view.shape + rank);
  const size_t byte_length = static_cast<size_t>(view.len);
  BufferViewHandle result;
  const bool is_aligned =
      reinterpret_cast<uintptr_t>(view.buf) % TAKT_BUFFER_ALIGNMENT == 0;
  if (byte_length <= kCopyBytesMax || !is_aligned ||
      lending == Lending::kNever) {
    Check(takt_buffer_view_copy_from_host(device, type, rank, shape.data(),
                                          view.buf, byte_length, result.out()));
  } else {
    takt_buffer_options_t options;
    takt_buffer_options_init(&options);
    if (view.readonly) options.access = TAKT_ACCESS_READ;
    BufferHandle buffer;
    host->Share();
    Check(takt_buffer_wrap(device, view.buf, byte_length, &options,
                           HostBuffer::ReleaseLater, host.get(), buffer.out()));
    host.release();  // The buffer's from here on.
    Check(takt_buffer_view_create(buffer.get(), type, rank, shape.data(),
                                  result.out()));
  }
  takt_buffer_view_retain(result.get());
  return takt_value_ref(result.get());
}

// An argument, for messages.
struct Place {
  const std::string& function;
  const size_t index;

  std::string Name() const {
    return function + ": input " + std::to_string(index);
  }
};

std::string KindOf(const nb::object& dtype) {
  return nb::cast<std::string>(dtype.attr("kind"));
}

bool IsInteger(const std::string& kind) {
  return kind == "i" || kind == "u" || kind == "b";
}

// An array of a list, a number or the like, of the declared type.
nb::object NewArray(nb::handle object, const takt_value_type_t& type,
                    const Place& place) {
  const Numpy& numpy = GetNumpy();
  try {
    nb::object array = numpy.asarray(object);
    if (!type.is_tensor || FindRow(type.element_type) == nullptr) return array;
    // Fractions do not become integers: their type is refused.
    const nb::object dtype = DtypeOf(type.element_type);
    const bool is_refused =
        KindOf(array.attr("dtype")) == "f" && IsInteger(KindOf(dtype));
    return is_refused ? array : numpy.asarray(object, dtype);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_TypeError)) {
      throw;
    }
    RaiseInvalidArgument(place.Name() + ": numpy makes no array of it: " +
                         nb::str(error.value()).c_str());
  }
}

// `object` as an array that offers its buffer, and its element type.
std::pair<nb::object, takt_element_type_t> AsArray(
    nb::handle object, const takt_value_type_t& type, const Place& place) {
  const Numpy& numpy = GetNumpy();
  nb::object array;
  if (nb::isinstance(object, numpy.ndarray)) {
    array = nb::borrow(object);
  } else if (nb::hasattr(object, "__dlpack__")) {
    try {
      array = numpy.from_dlpack(object);
    } catch (nb::python_error& error) {  // A bfloat16 of PyTorch, say.
      RaiseInvalidArgument(place.Name() + ": numpy cannot take it by DLPack: " +
                           nb::str(error.value()).c_str());
    }
  } else {
    array = NewArray(object, type, place);
  }
  nb::object dtype = array.attr("dtype");
  if (!nb::cast<bool>(dtype.attr("isnative"))) {
    array = array.attr("astype")(dtype.attr("newbyteorder")("="));
  }
  array = numpy.asarray(array, nb::arg("order") = "C");
  const std::string name =
      nb::cast<std::string>(array.attr("dtype").attr("name"));
  for (const DtypeRow& row : kDtypes) {
    if (name != row.name) continue;
    if (!row.is_extension) return {array, row.type};
    const bool is_byte = takt_element_type_bit_count(row.type) == 8;
    return {array.attr("view")(is_byte ? "uint8" : "uint16"), row.type};
  }
  RaiseInvalidArgument(place.Name() + ": expected numbers, got an array of " +
                       name);
}

takt_value_t ToTensor(nb::handle object, const takt_value_type_t& type,
                      takt_device_t* device, const Place& place,
                      Lending lending) {
  HostBuffer::DestroyReleased();
  auto host = std::make_unique<HostBuffer>();
  takt_element_type_t actual = 0;
  // bytes and memoryview offer buffers as well: of bytes.
  if (host->Get(object)) {
    actual = TypeOfFormat(host->view().format, host->view().itemsize);
  }
  if (actual == 0) {
    auto [array, element_type] = AsArray(object, type, place);
    actual = element_type;
    host = std::make_unique<HostBuffer>();
    if (!host->Get(array)) {
      RaiseInvalidArgument(place.Name() + ": the array offers no buffer");
    }
  }
  // Bits of an extension type that came as integers, where ml_dtypes is not
  // installed.
  const bool is_same_width = takt_element_type_bit_count(actual) ==
                             takt_element_type_bit_count(type.element_type);
  const DtypeRow* expected =
      type.is_tensor ? FindRow(type.element_type) : nullptr;
  if (expected != nullptr &&
      (takt_element_type_fits(actual, type.element_type) ||
       (expected->is_extension && is_same_width &&
        takt_element_type_kind(actual) == TAKT_NUMERICAL_UNSIGNED_INTEGER))) {
    actual = type.element_type;
  }
  return ViewOf(std::move(host), actual, device, lending);
}

// The memory of a result, which numpy arrays have as their base.
class TensorMemory {
 public:
  // Takes a reference of its own.
  explicit TensorMemory(takt_buffer_view_t* view) {
    takt_buffer_t* buffer = takt_buffer_view_buffer(view);
    const size_t byte_length = takt_buffer_view_byte_length(view);
    takt_status_t status =
        takt_buffer_map(buffer, 0, byte_length, TAKT_ACCESS_ALL, &mapping_);
    if (takt_status_code(status) == TAKT_STATUS_PERMISSION_DENIED) {
      takt_status_free(status);
      status =
          takt_buffer_map(buffer, 0, byte_length, TAKT_ACCESS_READ, &mapping_);
    }
    Check(status);
  }
  TensorMemory(const TensorMemory&) = delete;
  TensorMemory& operator=(const TensorMemory&) = delete;
  ~TensorMemory() { takt_buffer_unmap(&mapping_); }

  // Whether another array has this memory. If not, it is this array's from now
  // on.
  bool IsOfAnother() {
    if (mapping_.byte_length == 0) return false;
    if (SharedMemory::Has(mapping_.data)) return true;
    shared_.emplace(mapping_.data, mapping_.byte_length);
    return false;
  }

  int Fill(PyObject* self, Py_buffer* view, int flags) {
    static uint8_t nothing;  // An empty buffer needs an address as well.
    uint8_t* data = mapping_.data != nullptr ? mapping_.data : &nothing;
    const bool is_read_only = (mapping_.access & TAKT_ACCESS_WRITE) == 0;
    return PyBuffer_FillInfo(view, self, data,
                             static_cast<Py_ssize_t>(mapping_.byte_length),
                             is_read_only, flags);
  }

 private:
  takt_mapping_t mapping_ = {};
  std::optional<SharedMemory> shared_;
};

int GetTensorBuffer(PyObject* self, Py_buffer* view, int flags) {
  return nb::inst_ptr<TensorMemory>(self)->Fill(self, view, flags);
}

// Memory that belongs to another object, which it keeps.
struct OwnedMemory {
  nb::object owner;
  void* data;
  size_t byte_length;
};

int GetOwnedBuffer(PyObject* self, Py_buffer* view, int flags) {
  const OwnedMemory& memory = *nb::inst_ptr<OwnedMemory>(self);
  return PyBuffer_FillInfo(view, self, memory.data,
                           static_cast<Py_ssize_t>(memory.byte_length),
                           /*readonly=*/0, flags);
}

nb::object ShapeTuple(size_t rank, const int64_t* shape) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(rank)));
  for (size_t i = 0; i < rank; ++i) {
    PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i),
                    PyLong_FromLongLong(shape[i]));
  }
  return tuple;
}

// The compiler keeps no signs of integers; declarations have them.
takt_element_type_t WithSign(takt_element_type_t type,
                             takt_element_type_t declared) {
  switch (declared) {
    case TAKT_ELEMENT_UI8:
      return type == TAKT_ELEMENT_I8 ? declared : type;
    case TAKT_ELEMENT_UI16:
      return type == TAKT_ELEMENT_I16 ? declared : type;
    case TAKT_ELEMENT_UI32:
      return type == TAKT_ELEMENT_I32 ? declared : type;
    case TAKT_ELEMENT_UI64:
      return type == TAKT_ELEMENT_I64 ? declared : type;
    default:
      return type;
  }
}

nb::object FromView(takt_buffer_view_t* view, takt_element_type_t declared) {
  auto owned = std::make_unique<TensorMemory>(view);
  const bool is_of_another = owned->IsOfAnother();
  nb::object memory = nb::cast(owned.release(), nb::rv_policy::take_ownership);
  nb::object array = GetNumpy().ndarray(
      ShapeTuple(takt_buffer_view_rank(view), takt_buffer_view_shape(view)),
      DtypeOf(WithSign(takt_buffer_view_element_type(view), declared)), memory);
  // A result may be an argument, or be there twice.
  return is_of_another ? array.attr("copy")() : array;
}

}  // namespace

takt_value_t ToValue(nb::handle object, const takt_value_type_t& type,
                     takt_device_t* device, const std::string& function,
                     size_t index, Lending lending) {
  switch (type.kind) {
    case TAKT_VALUE_I32:
      return takt_value_i32(nb::cast<int32_t>(nb::int_(object)));
    case TAKT_VALUE_I64:
      return takt_value_i64(nb::cast<int64_t>(nb::int_(object)));
    case TAKT_VALUE_F32:
      return takt_value_f32(
          static_cast<float>(nb::cast<double>(nb::float_(object))));
    case TAKT_VALUE_F64:
      return takt_value_f64(nb::cast<double>(nb::float_(object)));
    default:
      if (object.is_none()) return takt_value_ref(nullptr);
      return ToTensor(object, type, device, Place{function, index}, lending);
  }
}

nb::object FromValue(const takt_value_t& value, takt_element_type_t declared) {
  switch (value.kind) {
    case TAKT_VALUE_I8:
    case TAKT_VALUE_I16:
    case TAKT_VALUE_I32:
      return nb::int_(value.i32);
    case TAKT_VALUE_I64:
      return nb::int_(value.i64);
    case TAKT_VALUE_F32:
      return nb::float_(value.f32);
    case TAKT_VALUE_F64:
      return nb::float_(value.f64);
    case TAKT_VALUE_NONE:
      return nb::none();
    case TAKT_VALUE_REF:
      break;
  }
  if (value.ref == nullptr) return nb::none();
  takt_buffer_view_t* view = takt_value_as_buffer_view(&value);
  if (view == nullptr) {
    RaiseInvalidArgument("a result is an object that Python has no form of");
  }
  return FromView(view, declared);
}

nb::object FromResults(size_t count, const takt_value_t* results,
                       const ElementTypes& declared) {
  if (count == 0) return nb::none();
  if (count == 1) return FromValue(results[0], declared[0]);
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; i < count; ++i) {
    PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i),
                    FromValue(results[i], declared[i]).release().ptr());
  }
  return tuple;
}

nb::object ArrayOver(void* data, const takt_value_type_t& type,
                     nb::handle owner) {
  size_t byte_length = 0;
  Check(takt_element_type_dense_byte_length(type.element_type, type.rank,
                                            type.shape, &byte_length));
  nb::object memory =
      nb::cast(new OwnedMemory{nb::borrow(owner), data, byte_length},
               nb::rv_policy::take_ownership);
  return GetNumpy().ndarray(ShapeTuple(type.rank, type.shape),
                            DtypeOf(type.element_type), memory);
}

const char* DtypeName(takt_element_type_t type) {
  const DtypeRow* row = FindRow(type);
  return row != nullptr ? row->name : "";
}

void BindTensors(nb::module_& module) {
  static PyType_Slot tensor_slots[] = {
      {Py_bf_getbuffer, reinterpret_cast<void*>(GetTensorBuffer)},
      {0, nullptr}};
  nb::class_<TensorMemory>(module, "TensorMemory", nb::type_slots(tensor_slots),
                           "The memory of a result, the base of its array.");
  static PyType_Slot owned_slots[] = {
      {Py_bf_getbuffer, reinterpret_cast<void*>(GetOwnedBuffer)}, {0, nullptr}};
  nb::class_<OwnedMemory>(module, "OwnedMemory", nb::type_slots(owned_slots),
                          "Memory of a stream's input, the base of its array.");
}

}  // namespace takt::python
