// takt/takt.hpp - the C API with C++20 ownership, and nothing else: each class
// holds one reference of one C object, and each method is one C call.
//
//   auto instance = takt::Instance::Create().value();
//   auto device = takt::Device::Create(instance, "local-task").value();
//   auto module = takt::Module::Load(instance, "policy.vmfb").value();
//   auto context = takt::Context::Create(instance, {module}, {device}).value();
//   auto act = context.FindFunction("policy.act").value();
//   const float values[4] = {1, 2, 3, 4};
//   auto input = takt::BufferView::Copy<float>(device, {1, 4}, values).value();
//   takt::Result<std::vector<takt::Value>> out = act.Invoke(input);
//
// Errors: no exceptions. What can fail returns a Status or a Result, which the
// compiler asks you to look at; value() of a failed Result prints the error
// and aborts, for programs that have no other plan.
//
// Ownership: copying an object makes another reference, moving leaves it
// empty. An empty object is a NULL handle: its methods return INVALID_ARGUMENT,
// or 0, "" and empty objects. Contracts, and the rules for threads, are those
// of the C headers.
//
// Element types: what reads or writes elements as T checks T against the
// tensor's element type by takt_element_type_fits(): float for f32, int32_t and
// uint32_t for i32, si32 and ui32. std::byte stands for the bytes of any type.
#ifndef TAKT_TAKT_HPP_
#define TAKT_TAKT_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <array>
#include <complex>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "takt/core.hpp"
#include "takt/fence.hpp"
#include "takt/takt.h"

namespace takt {
inline namespace cxx {

// Worker threads of their own; see takt/executor.h.
class Executor : public Object<Executor, takt_executor_t, takt_executor_retain,
                               takt_executor_release> {
 public:
  using Object::Object;
  static Result<Executor> Create(
      const Instance& instance,
      const takt_executor_options_t* options = nullptr) {
    takt_executor_t* executor = nullptr;
    takt_status_t status =
        takt_executor_create(instance.get(), options, &executor);
    return TakeResult<Executor>(status, executor);
  }
  takt_executor_statistics_t statistics() const {
    takt_executor_statistics_t statistics = {};
    statistics.struct_size = sizeof(statistics);
    takt_executor_query_statistics(get(), &statistics);
    return statistics;
  }
};

// Where work runs; see takt/device.h.
class Device : public Object<Device, takt_device_t, takt_device_retain,
                             takt_device_release> {
 public:
  using Object::Object;
  static Result<Device> Create(const Instance& instance,
                               const std::string& name) {
    return Create(instance, name, nullptr);
  }
  static Result<Device> Create(const Instance& instance,
                               const std::string& name,
                               const takt_device_options_t& options) {
    return Create(instance, name, &options);
  }
  // `options` nullptr: the defaults.
  static Result<Device> Create(const Instance& instance,
                               const std::string& name,
                               const takt_device_options_t* options) {
    takt_device_t* device = nullptr;
    takt_status_t status =
        takt_device_create(instance.get(), name.c_str(), options, &device);
    return TakeResult<Device>(status, device);
  }
  std::string_view name() const { return takt_device_name(get()); }
  std::optional<int64_t> QueryI64(const std::string& category,
                                  const std::string& key) const {
    int64_t value = 0;
    if (!takt_device_query_i64(get(), category.c_str(), key.c_str(), &value)) {
      return std::nullopt;
    }
    return value;
  }
  takt_device_statistics_t statistics() const {
    takt_device_statistics_t statistics = {};
    statistics.struct_size = sizeof(statistics);
    takt_device_query_statistics(get(), &statistics);
    return statistics;
  }
  void Trim() const { takt_device_trim(get()); }
};

// The element type that compiled modules use for a C++ type. Integers have no
// sign of their own there, so signed and unsigned ones map to the same. A
// std::byte is an opaque byte.
template <typename T>
constexpr takt_element_type_t ElementTypeOf() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, std::byte>) {
    return TAKT_ELEMENT_OPAQUE_8;
  } else if constexpr (std::is_same_v<U, bool>) {
    return TAKT_ELEMENT_BOOL;
  } else if constexpr (std::is_same_v<U, float>) {
    return TAKT_ELEMENT_F32;
  } else if constexpr (std::is_same_v<U, double>) {
    return TAKT_ELEMENT_F64;
  } else if constexpr (std::is_same_v<U, std::complex<float>>) {
    return TAKT_ELEMENT_CF64;
  } else if constexpr (std::is_same_v<U, std::complex<double>>) {
    return TAKT_ELEMENT_CF128;
  } else {
    static_assert(std::is_integral_v<U>, "no element type for this C++ type");
    return TAKT_NUMERICAL_INTEGER << 24 | sizeof(U) * 8;
  }
}

// INVALID_ARGUMENT, which names both types, unless elements of type `actual`
// can be read and written as T. std::byte is right for all.
template <typename T>
Status CheckElementType(takt_element_type_t actual) {
  constexpr takt_element_type_t kExpected = ElementTypeOf<T>();
  if constexpr (kExpected == TAKT_ELEMENT_OPAQUE_8) {
    return Status();
  } else {
    if (takt_element_type_fits(actual, kExpected) &&
        takt_element_type_bit_count(actual) == sizeof(T) * 8) {
      return Status();
    }
    char names[2][TAKT_ELEMENT_TYPE_TEXT_MAX];
    return Status(TAKT_STATUS_INVALID_ARGUMENT,
                  std::string("element type: expected ") +
                      takt_element_type_format(kExpected, names[0]) + ", got " +
                      takt_element_type_format(actual, names[1]));
  }
}

// A mapped range; unmaps when it goes.
class Mapping {
 public:
  Mapping() = default;
  explicit Mapping(const takt_mapping_t& mapping) : mapping_(mapping) {}
  Mapping(Mapping&& other) noexcept
      : mapping_(std::exchange(other.mapping_, takt_mapping_t{})) {}
  Mapping& operator=(Mapping other) noexcept {
    std::swap(mapping_, other.mapping_);
    return *this;
  }
  ~Mapping() { takt_buffer_unmap(&mapping_); }

  std::span<uint8_t> bytes() const {
    return {mapping_.data, mapping_.byte_length};
  }
  // The bytes as whole elements.
  template <typename T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(mapping_.data),
            mapping_.byte_length / sizeof(T)};
  }

 private:
  takt_mapping_t mapping_ = {};
};

// A range of device memory; see takt/buffer.h.
class Buffer : public Object<Buffer, takt_buffer_t, takt_buffer_retain,
                             takt_buffer_release> {
 public:
  using Object::Object;
  static Result<Buffer> Allocate(
      const Device& device, size_t byte_length,
      const takt_buffer_options_t* options = nullptr) {
    takt_buffer_t* buffer = nullptr;
    takt_status_t status =
        takt_buffer_allocate(device.get(), byte_length, options, &buffer);
    return TakeResult<Buffer>(status, buffer);
  }
  // `memory` is the caller's, aligned to TAKT_BUFFER_ALIGNMENT, until
  // `release` is called.
  static Result<Buffer> Wrap(const Device& device, std::span<uint8_t> memory,
                             takt_buffer_release_t release = nullptr,
                             void* user_data = nullptr) {
    takt_buffer_t* buffer = nullptr;
    takt_status_t status =
        takt_buffer_wrap(device.get(), memory.data(), memory.size(), nullptr,
                         release, user_data, &buffer);
    return TakeResult<Buffer>(status, buffer);
  }
  Result<Buffer> Subspan(size_t byte_offset,
                         size_t byte_length = TAKT_WHOLE_BUFFER) const {
    takt_buffer_t* buffer = nullptr;
    takt_status_t status =
        takt_buffer_subspan(get(), byte_offset, byte_length, &buffer);
    return TakeResult<Buffer>(status, buffer);
  }
  size_t byte_length() const { return takt_buffer_byte_length(get()); }
  Result<Mapping> Map(uint32_t access = TAKT_ACCESS_ALL, size_t byte_offset = 0,
                      size_t byte_length = TAKT_WHOLE_BUFFER) const {
    takt_mapping_t mapping;
    Status status(
        takt_buffer_map(get(), byte_offset, byte_length, access, &mapping));
    if (!status.ok()) return status;
    return Mapping(mapping);
  }
  Status Read(size_t byte_offset, std::span<uint8_t> target) const {
    return Status(
        takt_buffer_read(get(), byte_offset, target.data(), target.size()));
  }
  Status Write(size_t byte_offset, std::span<const uint8_t> source) const {
    return Status(
        takt_buffer_write(get(), byte_offset, source.data(), source.size()));
  }
};

// A tensor; see takt/buffer_view.h.
class BufferView
    : public Object<BufferView, takt_buffer_view_t, takt_buffer_view_retain,
                    takt_buffer_view_release> {
 public:
  using Object::Object;
  using Shape = std::span<const int64_t>;

  static Result<BufferView> Create(const Buffer& buffer,
                                   takt_element_type_t element_type,
                                   Shape shape) {
    takt_buffer_view_t* view = nullptr;
    takt_status_t status = takt_buffer_view_create(
        buffer.get(), element_type, shape.size(), shape.data(), &view);
    return TakeResult<BufferView>(status, view);
  }
  // A copy of host elements in a buffer of its own.
  static Result<BufferView> Copy(const Device& device,
                                 takt_element_type_t element_type, Shape shape,
                                 const void* data, size_t byte_length) {
    takt_buffer_view_t* view = nullptr;
    takt_status_t status = takt_buffer_view_copy_from_host(
        device.get(), element_type, shape.size(), shape.data(), data,
        byte_length, &view);
    return TakeResult<BufferView>(status, view);
  }
  template <typename T>
  static Result<BufferView> Copy(const Device& device, Shape shape,
                                 std::span<const T> elements) {
    return Copy(device, ElementTypeOf<T>(), shape, elements.data(),
                elements.size_bytes());
  }
  template <typename T>
  static Result<BufferView> Copy(const Device& device,
                                 std::initializer_list<int64_t> shape,
                                 std::span<const T> elements) {
    return Copy<T>(device, Shape(shape.begin(), shape.size()), elements);
  }

  // A reference of its own.
  Buffer buffer() const {
    return Buffer::Retain(takt_buffer_view_buffer(get()));
  }
  takt_element_type_t element_type() const {
    return takt_buffer_view_element_type(get());
  }
  // Borrowed from the view.
  Shape shape() const {
    return {takt_buffer_view_shape(get()), takt_buffer_view_rank(get())};
  }
  size_t element_count() const { return takt_buffer_view_element_count(get()); }
  size_t byte_length() const { return takt_buffer_view_byte_length(get()); }

  // Copies the elements out. INVALID_ARGUMENT if T is not the type of this
  // view's elements, or there is not room for exactly as many.
  template <typename T>
  Status Read(std::span<T> target) const {
    if (get() != nullptr) {
      Status status = CheckElementType<T>(element_type());
      if (!status.ok()) return status;
    }
    return Status(takt_buffer_view_copy_to_host(get(), target.data(),
                                                target.size_bytes()));
  }
  template <typename T>
  Result<std::vector<T>> ToVector() const {
    std::vector<T> elements(byte_length() / sizeof(T));
    Status status = Read(std::span<T>(elements));
    if (!status.ok()) return status;
    return elements;
  }
  // "2x3xf32=[1 2 3][4 5 6]"; the error's text if it cannot be read.
  std::string Format(size_t element_count_max = 1024) const {
    char* text = nullptr;
    Status status(takt_buffer_view_format(get(), element_count_max, &text));
    if (!status.ok()) return status.ToString();
    std::string result = text;
    takt_string_free(text);
    return result;
  }
};

// Host bytes of the VM; see takt/byte_buffer.h.
class ByteBuffer
    : public Object<ByteBuffer, takt_byte_buffer_t, takt_byte_buffer_retain,
                    takt_byte_buffer_release> {
 public:
  using Object::Object;
  static Result<ByteBuffer> Copy(std::span<const uint8_t> bytes) {
    takt_byte_buffer_t* buffer = nullptr;
    takt_status_t status =
        takt_byte_buffer_create(bytes.data(), bytes.size(), &buffer);
    return TakeResult<ByteBuffer>(status, buffer);
  }
  std::span<const uint8_t> bytes() const {
    return {takt_byte_buffer_data(get()), takt_byte_buffer_byte_length(get())};
  }
};

class List;

// One argument or result, with its reference if it is an object.
class Value {
 public:
  Value() : value_{} {}
  Value(int32_t value) : value_(takt_value_i32(value)) {}  // NOLINT: implicit,
  Value(int64_t value) : value_(takt_value_i64(value)) {}  // NOLINT: so that
  Value(float value) : value_(takt_value_f32(value)) {}    // NOLINT: arguments
  Value(double value) : value_(takt_value_f64(value)) {}   // NOLINT: read well.
  // Shares any object of this API, or null.
  template <typename Self, typename T, void (*kRetain)(T*),
            void (*kRelease)(T*)>
  Value(Object<Self, T, kRetain, kRelease> object)  // NOLINT: likewise.
      : value_(takt_value_ref(object.release())) {}
  // Takes over what `value` owns.
  static Value Take(takt_value_t value) {
    Value result;
    result.value_ = value;
    return result;
  }
  Value(const Value& other) : value_(other.value_) {
    if (kind() == TAKT_VALUE_REF) takt_object_retain(value_.ref);
  }
  Value(Value&& other) noexcept
      : value_(std::exchange(other.value_, takt_value_t{})) {}
  Value& operator=(Value other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Value() {
    if (kind() == TAKT_VALUE_REF) takt_object_release(value_.ref);
  }

  // Hands what the value owns to the caller.
  takt_value_t release() { return std::exchange(value_, takt_value_t{}); }
  takt_value_kind_t kind() const { return value_.kind; }
  const takt_value_t& get() const { return value_; }
  // Of the matching kind only.
  int32_t i32() const { return value_.i32; }
  int64_t i64() const { return value_.i64; }
  float f32() const { return value_.f32; }
  double f64() const { return value_.f64; }
  // The object, sharing it; empty if the value is no such object.
  BufferView view() const {
    return BufferView::Retain(takt_value_as_buffer_view(&value_));
  }
  Buffer buffer() const {
    return Buffer::Retain(takt_value_as_buffer(&value_));
  }
  ByteBuffer bytes() const {
    return ByteBuffer::Retain(takt_value_as_byte_buffer(&value_));
  }
  Fence fence() const { return Fence::Retain(takt_value_as_fence(&value_)); }
  inline List list() const;

 private:
  takt_value_t value_;
};
// Arrays of the one are arrays of the other.
static_assert(sizeof(Value) == sizeof(takt_value_t));

// See takt/list.h.
class List
    : public Object<List, takt_list_t, takt_list_retain, takt_list_release> {
 public:
  using Object::Object;
  static Result<List> Create(takt_value_kind_t element_kind = TAKT_VALUE_NONE) {
    takt_list_t* list = nullptr;
    takt_status_t status = takt_list_create(element_kind, 0, &list);
    return TakeResult<List>(status, list);
  }
  size_t size() const { return takt_list_size(get()); }
  Result<Value> Get(size_t index) const {
    takt_value_t value;
    Status status(takt_list_get(get(), index, &value));
    if (!status.ok()) return status;
    return Value::Take(value);
  }
  Status Set(size_t index, const Value& value) const {
    return Status(takt_list_set(get(), index, &value.get()));
  }
  Status Append(const Value& value) const {
    return Status(takt_list_append(get(), &value.get()));
  }
};

inline List Value::list() const {
  return List::Retain(takt_value_as_list(&value_));
}

// What a function takes and returns; see takt/signature.h.
class Signature : public Object<Signature, takt_signature_t,
                                takt_signature_retain, takt_signature_release> {
 public:
  using Object::Object;
  bool is_async() const { return takt_signature_is_async(get()); }
  std::string_view convention() const {
    return takt_signature_convention(get());
  }
  std::string_view declaration() const {
    return takt_signature_declaration(get());
  }
  size_t argument_count() const { return takt_signature_argument_count(get()); }
  size_t result_count() const { return takt_signature_result_count(get()); }
  // All zeros beyond the count.
  const takt_value_type_t& argument(size_t index) const {
    return OrNone(takt_signature_argument(get(), index));
  }
  const takt_value_type_t& result(size_t index) const {
    return OrNone(takt_signature_result(get(), index));
  }

 private:
  static const takt_value_type_t& OrNone(const takt_value_type_t* type) {
    static constexpr takt_value_type_t kNone = {};
    return type != nullptr ? *type : kNone;
  }
};

// Code; see takt/module.h.
class Module : public Object<Module, takt_module_t, takt_module_retain,
                             takt_module_release> {
 public:
  using Object::Object;
  static Result<Module> Load(
      const Instance& instance, const std::string& path,
      const takt_module_file_options_t* options = nullptr) {
    takt_module_t* module = nullptr;
    takt_status_t status =
        takt_module_load_file(instance.get(), path.c_str(), options, &module);
    return TakeResult<Module>(status, module);
  }
  static Result<Module> LoadMemory(
      const Instance& instance, std::span<const uint8_t> bytes,
      const takt_module_memory_options_t* options = nullptr) {
    takt_module_t* module = nullptr;
    takt_status_t status = takt_module_load_memory(
        instance.get(), bytes.data(), bytes.size(), options, &module);
    return TakeResult<Module>(status, module);
  }
  static Result<Module> CreateNative(
      const Instance& instance, const takt_native_module_options_t& options) {
    takt_module_t* module = nullptr;
    takt_status_t status =
        takt_native_module_create(instance.get(), &options, &module);
    return TakeResult<Module>(status, module);
  }
  std::string_view name() const { return takt_module_name(get()); }
  uint64_t content_hash() const { return takt_module_content_hash(get()); }
  size_t export_count() const { return takt_module_export_count(get()); }
  // "" beyond the count.
  std::string_view export_name(size_t index) const {
    const char* name = takt_module_export_name(get(), index);
    return name != nullptr ? name : "";
  }
  Result<Signature> export_signature(size_t index) const {
    takt_signature_t* signature = nullptr;
    takt_status_t status =
        takt_module_export_signature(get(), index, &signature);
    return TakeResult<Signature>(status, signature);
  }
};

// Weights in a file of their own; see takt/parameters.h.
class Parameters
    : public Object<Parameters, takt_parameters_t, takt_parameters_retain,
                    takt_parameters_release> {
 public:
  using Object::Object;
  static Result<Parameters> Open(const Instance& instance,
                                 const std::string& path,
                                 const std::string& scope = "") {
    takt_parameters_options_t options;
    takt_parameters_options_init(&options);
    options.scope = scope.c_str();
    return Open(instance, path, options);
  }
  static Result<Parameters> Open(const Instance& instance,
                                 const std::string& path,
                                 const takt_parameters_options_t& options) {
    takt_parameters_t* parameters = nullptr;
    takt_status_t status = takt_parameters_open(instance.get(), path.c_str(),
                                                &options, &parameters);
    return TakeResult<Parameters>(status, parameters);
  }
};

// An exported function of a context; see takt/function.h.
class Function : public Object<Function, takt_function_t, takt_function_retain,
                               takt_function_release> {
 public:
  using Object::Object;
  std::string_view name() const { return takt_function_name(get()); }
  Signature signature() const {
    return Signature::Retain(takt_function_signature(get()));
  }
  // The same function with names, element types and shapes that you say.
  Result<Function> Declare(const std::string& declaration) const {
    takt_function_t* function = nullptr;
    takt_status_t status =
        takt_function_declare(get(), declaration.c_str(), &function);
    return TakeResult<Function>(status, function);
  }
  Result<size_t> FindInput(const std::string& name) const {
    size_t index = 0;
    Status status(takt_function_find_input(get(), name.c_str(), &index));
    if (!status.ok()) return status;
    return index;
  }
  Result<size_t> FindOutput(const std::string& name) const {
    size_t index = 0;
    Status status(takt_function_find_output(get(), name.c_str(), &index));
    if (!status.ok()) return status;
    return index;
  }
  // Arguments in the function's order, from names in any order. All must be
  // there.
  Result<std::vector<Value>> NamedArguments(
      const std::vector<std::pair<std::string, Value>>& named) const {
    std::vector<Value> arguments(
        takt_signature_argument_count(takt_function_signature(get())));
    if (named.size() != arguments.size()) {
      return Status(TAKT_STATUS_INVALID_ARGUMENT,
                    std::string(name()) + ": expected " +
                        std::to_string(arguments.size()) + " inputs, got " +
                        std::to_string(named.size()));
    }
    std::vector<bool> is_given(arguments.size());
    for (const auto& [key, value] : named) {
      Result<size_t> index = FindInput(key);
      if (!index.ok()) return index.status();
      if (is_given[*index]) {
        return Status(TAKT_STATUS_INVALID_ARGUMENT,
                      std::string(name()) + ": " + key + " is given twice");
      }
      is_given[*index] = true;
      arguments[*index] = value;
    }
    return arguments;
  }

  takt_binding_statistics_t binding_statistics() const {
    takt_binding_statistics_t statistics = {};
    statistics.struct_size = sizeof(statistics);
    takt_status_free(takt_function_query_bindings(get(), &statistics));
    return statistics;
  }
  std::optional<std::string_view> attribute(const std::string& key) const {
    const char* value = takt_function_attribute(get(), key.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  }

  // Calls the function and waits; `results` are overwritten. Allocates nothing
  // once warm.
  Status Invoke(std::span<const Value> arguments, std::span<Value> results,
                const takt_invoke_options_t* options = nullptr) const {
    for (Value& result : results) result = Value();
    return Status(takt_function_invoke(
        get(), options, arguments.size(),
        reinterpret_cast<const takt_value_t*>(arguments.data()), results.size(),
        reinterpret_cast<takt_value_t*>(results.data())));
  }
  // The same with values, views and other objects as arguments:
  // act.Invoke(view, 3, 0.5f).
  template <typename... Arguments>
  requires(std::is_convertible_v<const Arguments&, Value>&&...)
      Result<std::vector<Value>> Invoke(const Arguments&... arguments)
  const {
    const std::array<Value, sizeof...(Arguments)> values = {
        Value(arguments)...};
    std::vector<Value> results(
        takt_signature_result_count(takt_function_signature(get())));
    Status status = Invoke(std::span<const Value>(values), results);
    if (!status.ok()) return status;
    return results;
  }
};

// Linked modules with their state; see takt/context.h.
class Context : public Object<Context, takt_context_t, takt_context_retain,
                              takt_context_release> {
 public:
  using Object::Object;
  static Result<Context> Create(
      const Instance& instance, const std::vector<Module>& modules,
      const std::vector<Device>& devices = {},
      const std::vector<Parameters>& parameters = {}) {
    const auto module_pointers = Pointers(modules);
    const auto device_pointers = Pointers(devices);
    const auto parameters_pointers = Pointers(parameters);
    takt_context_options_t options;
    takt_context_options_init(&options);
    options.modules = module_pointers.data();
    options.module_count = module_pointers.size();
    options.devices = device_pointers.data();
    options.device_count = device_pointers.size();
    options.parameters = parameters_pointers.data();
    options.parameters_count = parameters_pointers.size();
    takt_context_t* context = nullptr;
    takt_status_t status =
        takt_context_create(instance.get(), &options, &context);
    return TakeResult<Context>(status, context);
  }
  Result<Function> FindFunction(const std::string& name) const {
    takt_function_t* function = nullptr;
    takt_status_t status =
        takt_context_find_function(get(), name.c_str(), &function);
    return TakeResult<Function>(status, function);
  }
  Status Notify(takt_context_signal_t signal) const {
    return Status(takt_context_notify(get(), signal));
  }
  takt_context_statistics_t statistics() const {
    takt_context_statistics_t statistics = {};
    statistics.struct_size = sizeof(statistics);
    takt_context_query_statistics(get(), &statistics);
    return statistics;
  }

 private:
  template <typename T>
  static std::vector<typename T::CType*> Pointers(
      const std::vector<T>& objects) {
    std::vector<typename T::CType*> pointers;
    for (const T& object : objects) pointers.push_back(object.get());
    return pointers;
  }
};

}  // namespace cxx
}  // namespace takt

// Built on the classes above.
#include "takt/async.hpp"
#include "takt/queue.hpp"
#include "takt/scheduler.hpp"
#include "takt/stream.hpp"
#include "takt/trace.hpp"

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_TAKT_HPP_
