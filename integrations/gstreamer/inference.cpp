#include "inference.h"

#include <algorithm>
#include <cstring>

namespace {

constexpr size_t kChannels = 3;

takt::Status Invalid(const std::string& message) {
  return takt::Status(TAKT_STATUS_INVALID_ARGUMENT, message);
}

}  // namespace

std::string Inference::TypeOf(const takt::BufferView& view) {
  std::string text;
  for (const int64_t size : view.shape()) text += std::to_string(size) + "x";
  char name[TAKT_ELEMENT_TYPE_TEXT_MAX];
  return text + takt_element_type_format(view.element_type(), name);
}

takt::Result<std::unique_ptr<Inference>> Inference::Create(
    std::shared_ptr<SharedInstance> shared, const Settings& settings) {
  std::unique_ptr<Inference> self(new Inference);
  self->scale_ = settings.scale;
  self->offset_ = settings.offset;
  auto module = takt::Module::Load(shared->instance, settings.module);
  if (!module.ok()) return module.status();
  auto context =
      takt::Context::Create(shared->instance, {*module}, {shared->device});
  if (!context.ok()) return context.status();
  auto function = context->FindFunction(settings.function);
  if (!function.ok()) return function.status();
  self->shared_ = std::move(shared);
  self->context_ = *context;
  self->function_ = *function;
  const takt_signature_t* signature = takt_function_signature(function->get());
  if (takt_signature_argument_count(signature) != 1) {
    return Invalid(settings.function + ": expected one input, got " +
                   std::to_string(takt_signature_argument_count(signature)));
  }
  takt::Status status = self->ReadInput(takt_signature_argument(signature, 0));
  if (!status.ok())
    return Invalid(settings.function + ": " + std::string(status.message()));
  for (size_t i = 0; i < takt_signature_result_count(signature); ++i) {
    const takt_value_type_t* type = takt_signature_result(signature, i);
    if (!type->is_tensor) continue;
    std::string text = type->type;  // "tensor<1x16xf32>".
    if (text.starts_with("tensor<")) text = text.substr(7, text.size() - 8);
    self->result_types_ += (self->result_types_.empty() ? "" : ";") + text;
  }
  return self;
}

takt::Status Inference::ReadInput(const takt_value_type_t* type) {
  const std::string found = type->type;
  if (!type->is_tensor) return Invalid("its input is no tensor: " + found);
  is_float_ = takt_element_type_fits(type->element_type, TAKT_ELEMENT_F32);
  const bool is_bytes =
      takt_element_type_fits(type->element_type, TAKT_ELEMENT_UI8);
  shape_.assign(type->shape, type->shape + type->rank);
  std::vector<int64_t> picture = shape_;
  if (picture.size() == 4 && picture[0] == 1) picture.erase(picture.begin());
  is_planar_ = picture.size() == 3 && picture[0] == kChannels;
  if (is_planar_)
    std::rotate(picture.begin(), picture.begin() + 1, picture.end());
  if (picture.size() != 3 || picture[2] != kChannels || picture[0] < 1 ||
      picture[1] < 1 || picture[0] > 32768 || picture[1] > 32768 ||
      (!is_float_ && !is_bytes)) {
    return Invalid(
        "input 0: expected 1xHxWx3, HxWx3 or 1x3xHxW of f32 or i8, got " +
        found);
  }
  element_type_ = type->element_type;
  height_ = int(picture[0]);
  width_ = int(picture[1]);
  return takt::Status();
}

takt::Result<takt::Value> Inference::MakeInput(const uint8_t* pixels,
                                               size_t stride) {
  const size_t row_bytes = kChannels * size_t(width_);
  const bool fits =
      !is_float_ && !is_planar_ && stride == row_bytes &&
      reinterpret_cast<uintptr_t>(pixels) % TAKT_BUFFER_ALIGNMENT == 0;
  if (!fits) return CopyInput(pixels, stride);
  // The function does not write its input.
  auto buffer = takt::Buffer::Wrap(
      shared_->device,
      {const_cast<uint8_t*>(pixels), row_bytes * size_t(height_)});
  if (!buffer.ok()) return buffer.status();
  auto view = takt::BufferView::Create(*buffer, element_type_, shape_);
  if (!view.ok()) return view.status();
  return takt::Value(*view);
}

// A row of the picture as floats; of a planar input, into its three planes.
void Inference::Fill(const uint8_t* row, float* to, int y) const {
  const size_t plane = size_t(width_) * size_t(height_);
  for (size_t x = 0; x < size_t(width_); ++x) {
    for (size_t c = 0; c < kChannels; ++c) {
      const size_t pixel = size_t(y) * size_t(width_) + x;
      to[is_planar_ ? c * plane + pixel : kChannels * pixel + c] =
          float(row[kChannels * x + c]) * scale_ + offset_;
    }
  }
}

takt::Result<takt::Value> Inference::CopyInput(const uint8_t* pixels,
                                               size_t stride) {
  const size_t row_bytes = kChannels * size_t(width_);
  const size_t plane = size_t(width_) * size_t(height_);
  if (copy_.get() == nullptr) {
    auto buffer = takt::Buffer::Allocate(
        shared_->device, row_bytes * size_t(height_) * (is_float_ ? 4 : 1));
    if (!buffer.ok()) return buffer.status();
    auto view = takt::BufferView::Create(*buffer, element_type_, shape_);
    if (!view.ok()) return view.status();
    buffer_ = *buffer;
    copy_ = *view;
  }
  auto mapping = buffer_.Map();
  if (!mapping.ok()) return mapping.status();
  for (int y = 0; y < height_; ++y) {
    const uint8_t* row = pixels + size_t(y) * stride;
    if (is_float_) {
      Fill(row, mapping->as<float>().data(), y);
    } else if (!is_planar_) {
      std::memcpy(mapping->bytes().data() + size_t(y) * row_bytes, row,
                  row_bytes);
    } else {
      for (size_t i = 0; i < row_bytes; ++i) {
        mapping->bytes()[i % kChannels * plane + size_t(y) * size_t(width_) +
                         i / kChannels] = row[i];
      }
    }
  }
  ++copied_count_;
  return takt::Value(copy_);
}

// A function may return its input. The frame's memory goes on to other elements
// and that of copy_ to the next frame, so such a result is copied.
takt::Status Inference::Own(const takt::Value& input,
                            takt::Value& result) const {
  const takt::BufferView view = result.view();
  auto from = input.view().buffer().Map(TAKT_ACCESS_READ);
  if (!from.ok()) return from.status();
  auto mapping = view.buffer().Map(TAKT_ACCESS_READ);
  if (!mapping.ok()) return mapping.status();
  const std::span<const uint8_t> bytes = mapping->bytes();
  const uint8_t* const begin = from->bytes().data();
  if (bytes.data() >= begin + from->bytes().size() ||
      bytes.data() + bytes.size() <= begin) {
    return takt::Status();
  }
  auto buffer = takt::Buffer::Allocate(shared_->device, bytes.size());
  if (!buffer.ok()) return buffer.status();
  auto target = buffer->Map();
  if (!target.ok()) return target.status();
  std::ranges::copy(bytes, target->bytes().begin());
  auto copy = takt::BufferView::Create(
      *buffer, view.element_type(), {view.shape().begin(), view.shape().end()});
  if (!copy.ok()) return copy.status();
  result = takt::Value(*copy);
  return takt::Status();
}

takt::Result<std::vector<takt::Value>> Inference::Run(const uint8_t* pixels,
                                                      size_t stride,
                                                      int32_t priority,
                                                      int64_t deadline_ns) {
  auto input = MakeInput(pixels, stride);
  if (!input.ok()) return input.status();
  takt_invoke_options_t options;
  takt_invoke_options_init(&options);
  options.priority = priority;
  options.deadline_ns = deadline_ns;
  std::vector<takt::Value> results(
      takt_signature_result_count(takt_function_signature(function_.get())));
  takt::Status status = function_.Invoke({&*input, 1}, results, &options);
  for (takt::Value& result : results) {
    if (status.ok() && result.view().get() != nullptr)
      status = Own(*input, result);
  }
  if (!status.ok()) return status;
  return results;
}
