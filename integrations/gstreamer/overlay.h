// Draws results over the picture that they belong to.
#ifndef TAKT_INTEGRATIONS_GSTREAMER_OVERLAY_H_
#define TAKT_INTEGRATIONS_GSTREAMER_OVERLAY_H_

#include <cstddef>
#include <cstdint>
#include <takt/takt.hpp>

// Rows of red, green and blue bytes, `stride` bytes apart.
struct Picture {
  uint8_t* pixels;
  size_t stride;
  int width, height;
};

// Draws a result of f32, or of bytes from 0 to 255 that stand for 0 to 1. Its
// shape, without a first dimension of 1, says what it is:
//
//   Nx4, Nx5, Nx6    boxes: left, top, right and bottom from 0 to 1, a score (a
//                    box is drawn from 0.5 on), a class (its colour)
//   HxW, HxWx1, 1xHxW    a map from 0 to 1, in red
//   HxWx3, 3xHxW     a picture from 0 to 1, half transparent
//   N                bars at the lower edge; the longest is the value furthest
//                    from 0, negative ones are blue
//
// Numbers that are not finite count as 0.
//
// Errors: UNIMPLEMENTED  another shape or element type. Nothing was drawn.
takt::Status DrawOverlay(const takt::BufferView& result, Picture picture);

#endif  // TAKT_INTEGRATIONS_GSTREAMER_OVERLAY_H_
